// How much memory this machine lets the process have: the limit of its cgroup, as containers and units of systemd have
// one.
//
// Guarantees: the smallest limit among the cgroup of the process and those above it, as far as the process sees them. A
// container often sees its own cgroup as the root, and /proc/self/cgroup then names a folder that does not exist: a
// folder that does not exist has no limit.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bloomring {

struct MemoryBound {
  uint64_t bytes = 0;
  std::string file;  // That says so: "/sys/fs/cgroup/memory.max".
};

// Where the system tells of cgroups; tests have folders of their own.
struct CgroupFiles {
  std::string of_process = "/proc/self/cgroup";  // Lines "NUMBER:CONTROLLERS:PATH".
  std::string root = "/sys/fs/cgroup";           // Of version 2; version 1 has a folder `memory` in it.
};

// Nothing where no cgroup has a limit.
std::optional<MemoryBound> memory_bound(const CgroupFiles& files = {});

}  // namespace bloomring
