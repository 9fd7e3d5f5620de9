#include "pipeline/settings/keys/found_settings.h"

#include <catch2/catch.hpp>

#include "pipeline/settings/memory_plan.h"
#include "tests/pipeline/settings/keys/loaded.h"

using namespace bloomring;

namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
const std::string kFile = "/sys/fs/cgroup/memory.max";

// On a host with this name, whose cgroup has this limit; 0: none.
Result<LoadedSettings> load_on(std::string name, uint64_t bound,
                               std::vector<std::pair<std::string, std::string>> values) {
  ConfigSources sources;
  for (auto& [key, value] : values) sources.flags.push_back({key, value, "--" + key});
  HostFacts host{.name = std::move(name)};
  if (bound > 0) host.memory_bound = {bound, kFile};
  return load_settings(sources, topology(), nullptr, host);
}

std::string source_of(const LoadedSettings& loaded, const std::string& key) {
  for (const SettingSource& from : loaded.sources) {
    if (from.key == key) return from.value + ": " + from.source;
  }
  return "";
}

const std::vector<std::pair<std::string, std::string>> kOrdinalOfFour = {{"serve.replica_index", "ordinal"},
                                                                         {"serve.replica_count", "4"}};

}  // namespace

TEST_CASE("found settings: the memory limit is four fifths of that of the cgroup, in whole MiB") {
  const auto loaded = load_on("h", 2 * kGiB, {});
  REQUIRE(loaded.ok());
  CHECK(loaded->settings.memory.limit == 1638 * kMiB);
  CHECK(source_of(*loaded, "memory.limit") == "1638MiB: four fifths of the 2 GiB in " + kFile);
  CHECK_THAT(loaded->effective_yaml, Catch::Contains("limit: 1638MiB  # " + kFile + ":1\n"));
  CHECK(loaded->warnings.empty());
}

TEST_CASE("found settings: a memory limit that is set is left alone, and so is the default without a cgroup's") {
  const auto set = load_on("h", 4 * kGiB, {{"memory.limit", "3GiB"}});
  REQUIRE(set.ok());
  CHECK(source_of(*set, "memory.limit") == "3GiB: --memory.limit");
  CHECK(set->warnings.empty());
  const auto unbound = load_on("h", 0, {});
  REQUIRE(unbound.ok());
  CHECK(source_of(*unbound, "memory.limit") == "2GiB: default");
}

TEST_CASE("found settings: a memory limit beyond that of the cgroup is a warning") {
  const auto loaded = load_on("h", 2 * kGiB, {{"memory.limit", "3GiB"}});
  REQUIRE(loaded.ok());
  REQUIRE(loaded->warnings.size() == 1);
  CHECK_THAT(loaded->warnings[0], Catch::StartsWith("--memory.limit: memory.limit is 3 GiB, more than the 2 GiB in "));
  CHECK(load_on("h", 2 * kGiB, {{"memory.limit", "2GiB"}})->warnings.empty());
}

TEST_CASE("found settings: a cgroup that is too small is refused with its file, a very large one is bounded") {
  CHECK_THAT(load_on("h", 64 * kMiB, {}).status().message(),
             Catch::StartsWith(kFile + ":1: memory.limit is 51MiB; it must be at least 64MiB"));
  CHECK_THAT(load_on("h", 160 * kMiB, {}).status().message(),
             Catch::StartsWith(kFile + ":1: memory.limit is 128 MiB; it must be at least "));
  CHECK_THAT(load_on("h", 5, {}).status().message(), Catch::StartsWith(kFile + ":1: memory.limit is 4; "));
  CHECK(load_on("h", uint64_t{1} << 50, {})->settings.memory.limit == uint64_t{1} << 40);
}

TEST_CASE("found settings: the index of a replica is the ordinal of its pod, where it is asked for") {
  for (const auto& [name, index] : std::vector<std::pair<std::string, uint32_t>>{
           {"bloomring-serve-0", 0}, {"bloomring-serve-3", 3}, {"s-2", 2}}) {
    INFO(name);
    const auto loaded = load_on(name, 0, kOrdinalOfFour);
    REQUIRE(loaded.ok());
    CHECK(loaded->settings.serve.replica_index == index);
    CHECK(source_of(*loaded, "serve.replica_index") == std::to_string(index) + ": ordinal of " + name);
  }
  const auto set = load_on("bloomring-serve-3", 0, {{"serve.replica_index", "1"}, {"serve.replica_count", "4"}});
  REQUIRE(set.ok());
  CHECK(source_of(*set, "serve.replica_index") == "1: --serve.replica_index");
}

TEST_CASE("found settings: a name without an ordinal is refused, and so is an ordinal beyond the count of replicas") {
  for (const char* name : {"laptop", "serve-", "-3", "serve-3a", "serve3", ""}) {
    INFO(name);
    CHECK_THAT(load_on(name, 0, kOrdinalOfFour).status().message(),
               Catch::StartsWith("--serve.replica_index: serve.replica_index is ordinal, and this host is named "));
  }
  CHECK(load_on("serve-4", 0, kOrdinalOfFour).status().message() ==
        "--serve.replica_index: serve.replica_index is 4; it must be less than serve.replica_count = 4");
  CHECK_THAT(load_on("serve-10000", 0, kOrdinalOfFour).status().message(),
             Catch::EndsWith("serve.replica_index is 10000; it must be an integer in [0, 9999] or ordinal"));
}

TEST_CASE("found settings: only a process that takes calls has an index, so others may have any name") {
  auto values = kOrdinalOfFour;
  values.emplace_back("stages", "window");
  for (const char* name : {"laptop", "window-9"}) {
    const auto loaded = load_on(name, 0, values);
    REQUIRE(loaded.ok());
    CHECK(source_of(*loaded, "serve.replica_index").empty());
  }
}

TEST_CASE("found settings: a command that runs no stage neither finds them nor plans memory") {
  ConfigSources sources;
  sources.flags = {{"serve.replica_index", "ordinal", "--set"}, {"memory.limit", "64MiB", "--set"}};
  const auto read = load_settings(sources, topology(), nullptr, std::nullopt);
  REQUIRE(read.status().message() == "");
  CHECK(read->sources.empty());
  CHECK(read->settings.serve.replica_index == 0);
  CHECK_THAT(read->effective_yaml, Catch::Contains("replica_index: ordinal  # --set"));
  CHECK_FALSE(load_settings(sources, topology(), nullptr, HostFacts{.name = "s-0"}).ok());
}
