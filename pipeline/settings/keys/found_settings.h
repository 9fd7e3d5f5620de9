// Settings that a process finds on its host where the configuration leaves them to it: memory.limit, where it is not
// set, from the limit of its cgroup, and serve.replica_index, where it is `ordinal`, from the name of its pod.
//
// Threading: `host_facts` reads files and the environment; the rest are pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config/config.h"
#include "base/host/memory_bound.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// The facts of the host from which the two settings are found.
struct HostFacts {
  std::string name;                           // HOSTNAME of the environment, else the host's own: a pod's name.
  std::optional<MemoryBound> memory_bound{};  // Of the cgroup.
};
HostFacts host_facts();

// A value in force, and why it is that one.
struct SettingSource {
  std::string key;
  std::string value;   // "1638MiB"
  std::string source;  // "four fifths of the 2 GiB in /sys/fs/cgroup/memory.max", "site.yaml:9", "default"
};

// Four fifths, in whole MiB. The rest is for what no bound counts: code, stacks, the allocator, pages that the kernel
// cannot drop.
uint64_t limit_within(uint64_t bound_bytes);

// Sets what is to be found, in the variables that `config` is bound to, and tells where both settings come from; of
// serve.replica_index only if a stage takes calls. Returns `faults` (success, or kInvalid) with a line more for each
// value that cannot be found or is not allowed.
Status find_settings(const HostFacts& host, const Settings& settings, Config& config,
                     std::vector<SettingSource>& sources, Status faults = {});

// Warns of a memory.limit above what the cgroup allows.
void warn_of_bound(const HostFacts& host, const Settings& settings, const Config& config,
                   std::vector<std::string>& warnings);

}  // namespace bloomring
