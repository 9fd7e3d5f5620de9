#include "pipeline/settings/keys/found_settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "pipeline/settings/keys/value_rules.h"
#include "pipeline/settings/memory_plan.h"

namespace bloomring {

namespace {

constexpr std::string_view kLimit = "memory.limit";
constexpr std::string_view kIndex = "serve.replica_index";
constexpr std::string_view kDefault = "default";

// The digits behind the last "-" of a pod's name; empty where there are none.
std::string ordinal_in(const std::string& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string::npos || dash == 0) return "";
  const std::string digits = name.substr(dash + 1);
  return digits.find_first_not_of("0123456789") == std::string::npos ? digits : "";
}

Status find_limit(const HostFacts& host, Config& config, std::string& source) {
  source = config.origin(kLimit);
  if (source != kDefault || !host.memory_bound) return {};
  const auto& [bound, file] = *host.memory_bound;
  source = "four fifths of the " + bytes_text(bound) + " in " + file;
  const uint64_t limit = limit_within(bound);
  const std::string text = limit < kMiB ? std::to_string(limit) : std::to_string(limit / kMiB) + "MiB";
  return config.follow(kLimit, text, file + ":1");
}

Status find_index(const HostFacts& host, Config& config, std::string& source) {
  source = config.origin(kIndex);
  if (!config.asks(kIndex)) return {};
  const std::string ordinal = ordinal_in(host.name), asked_in = source;
  if (ordinal.empty()) {
    return invalid(asked_in + ": " + std::string(kIndex) + " is " + std::string(kOrdinal) +
                   ", and this host is named " + (host.name.empty() ? "nothing" : host.name) +
                   ", without -N at the end as a pod of a StatefulSet; set the number itself in "
                   "BLOOMRING_SERVE_REPLICA_INDEX, or the pod's name in HOSTNAME");
  }
  source = "ordinal of " + host.name;
  return config.follow(kIndex, ordinal, asked_in);
}

Status with(const Status& faults, const Status& more) {
  if (faults.ok() || more.ok()) return faults.ok() ? more : faults;
  return invalid(faults.message() + "\n" + more.message());
}

}  // namespace

HostFacts host_facts() {
  HostFacts facts{.name = "", .memory_bound = memory_bound()};
  char own[256] = {};
  const char* told = std::getenv("HOSTNAME");
  if (told != nullptr) {
    facts.name = told;
  } else if (gethostname(own, sizeof own - 1) == 0) {
    facts.name = own;
  }
  return facts;
}

uint64_t limit_within(uint64_t bound_bytes) {
  const uint64_t limit = bound_bytes / 5 * 4;
  return std::min<uint64_t>(limit < kMiB ? limit : limit / kMiB * kMiB, kBytesMax);
}

Status find_settings(const HostFacts& host, const Settings& settings, Config& config,
                     std::vector<SettingSource>& sources, Status faults) {
  const auto note = [&](std::string_view key, Status (*find)(const HostFacts&, Config&, std::string&)) {
    std::string source;
    faults = with(faults, find(host, config, source));
    sources.push_back({std::string(key), config.value_text(key), source});
  };
  note(kLimit, find_limit);
  if (take_calls(settings.stages)) note(kIndex, find_index);
  return faults;
}

void warn_of_bound(const HostFacts& host, const Settings& settings, const Config& config,
                   std::vector<std::string>& warnings) {
  if (!host.memory_bound || settings.memory.limit <= host.memory_bound->bytes) return;
  warnings.push_back(config.origin(kLimit) + ": " + std::string(kLimit) + " is " + bytes_text(settings.memory.limit) +
                     ", more than the " + bytes_text(host.memory_bound->bytes) + " in " + host.memory_bound->file +
                     ": the kernel ends the process before it reaches its limit; leave the key out, which takes four "
                     "fifths of that");
}

}  // namespace bloomring
