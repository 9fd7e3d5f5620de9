// Any bytes as a configuration, from a file, the environment and flags: refused with a reason for each mistake, or in
// force, and then what is printed of it can be loaded again and is the same. A secret is in no message and no print.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/config/config.h"
#include "base/config/finding.h"

using namespace bloomring;

namespace {

constexpr std::string_view kSecret = "pXq7-secret";

enum class Unit { kMonth, kWeek };

struct Values {
  int32_t slots = 6;
  uint64_t limit_bytes = 1 << 30;
  double rate = 0.01;
  bool strict = false;
  std::string zone = "UTC";
  Unit unit = Unit::kMonth;
  std::vector<std::string> scenes;
  std::vector<Unit> units{Unit::kMonth};
  std::map<std::string, std::string> properties{{"client.id", "b"}};
  bool operator==(const Values&) const = default;
};

bool is_plain(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return (c >= ' ' && c < '\x7f') || c == '\n'; });
}

// False for what the YAML library writes as other characters: bytes that are not UTF-8, and line ends of Unicode.
bool is_plain(const Values& values) {
  const auto plain_entry = [](const auto& entry) { return is_plain(entry.first) && is_plain(entry.second); };
  return is_plain(values.zone) && std::ranges::all_of(values.properties, plain_entry) &&
         std::ranges::all_of(values.scenes, [](const std::string& scene) { return is_plain(scene); });
}

struct Declared {
  Values values;
  std::string password;
  Config config;

  Declared() {
    config.section("ring", "The ring.");
    config.integer("ring.slots", &values.slots).range(3, 64).doc("Number of slots.");
    config.bytes("ring.limit", &values.limit_bytes).range(1, 1LL << 40).doc("Bound.");
    config.real("ring.rate", &values.rate).real_range(0, 0.1).doc("Rate.");
    config.section("serve", "The service.");
    config.boolean("serve.strict", &values.strict).doc("Strict.");
    config.string("serve.zone", &values.zone).doc("Zone.");
    config.choice("serve.unit", &values.unit, {{"month", Unit::kMonth}, {"week", Unit::kWeek}}).doc("Unit.");
    config.list("serve.scenes", &values.scenes).doc("Scenes.");
    config.choices("serve.units", &values.units, {{"month", Unit::kMonth}, {"week", Unit::kWeek}}).doc("Units.");
    config.string("serve.password", &password).secret().doc("Password.");
    config.section("kafka", "Kafka.");
    config.map("kafka.properties", &values.properties).doc("Properties.");
  }
};

// A file in memory, by the name that this process can open it under.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("config", MFD_CLOEXEC)) {
    BLOOMRING_CHECK(descriptor_ >= 0, "no file in memory");
  }
  std::string holding(std::string_view text) const {
    const bool written = ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, text.data(), text.size(), 0) >= 0;
    BLOOMRING_CHECK(written, "no room in memory");
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

std::string path_of(std::string_view text) {
  static const MemoryFile kFile;
  return kFile.holding(text);
}

std::string_view next_part(std::string_view& rest) {
  const std::string_view part = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

// The file, then variables and flags, parted by zeros: "BLOOMRING_RING_SLOTS=5" or "ring.slots=5".
ConfigSources sources_of(std::string_view input) {
  ConfigSources sources;
  sources.path = path_of(next_part(input));
  while (!input.empty()) {
    const std::string part(next_part(input));
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals);
    const std::string value = part.substr(std::min(equals + 1, part.size()));
    if (name.starts_with("BLOOMRING_")) {
      sources.environment[name] = value;
    } else {
      sources.flags.push_back({name, value, "--set " + name});
    }
  }
  sources.environment["BLOOMRING_SERVE_PASSWORD"] = kSecret;
  sources.flags.push_back({"kafka.properties.sasl.password", std::string(kSecret), "--set kafka.properties"});
  return sources;
}

void expect_no_secret(const std::string& text) {
  BLOOMRING_CHECK(text.find(kSecret) == std::string::npos, "a secret is never shown");
}

void check_refusal(const Status& status) {
  BLOOMRING_CHECK(status.code() == Code::kInvalid, "refused as invalid");
  const auto findings = findings_of(status);
  BLOOMRING_CHECK(!findings.empty(), "with a line for each mistake");
  for (const SetupFinding& finding : findings) BLOOMRING_CHECK(!finding.way_out.empty(), "each has a way out");
  expect_no_secret(status.message());
}

void check_print(const Declared& first) {
  const std::string printed = first.config.effective_yaml();
  expect_no_secret(printed);
  Declared again;
  const Status status = again.config.load({.path = path_of(printed)});
  BLOOMRING_CHECK(status.ok(), "what is printed can be loaded: " + status.message() + "\n" + printed);
  Values expected = first.values;
  expected.properties["sasl.password"] = "***";
  for (auto& [name, value] : expected.properties) {
    if (looks_secret(name)) value = "***";
  }
  BLOOMRING_CHECK(again.values == expected, "and is the same:\n" + printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.find(kSecret) != std::string_view::npos) return 0;
  Declared declared;
  const Status status = declared.config.load(sources_of(input));
  for (const std::string& warning : declared.config.warnings()) expect_no_secret(warning);
  if (!status.ok()) {
    check_refusal(status);
  } else if (is_plain(declared.values)) {
    check_print(declared);
  }
  return 0;
}
