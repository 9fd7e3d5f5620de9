// The kernel's figures about this process (Linux /proc), for process_* metrics. A figure that cannot be read is absent.
// Threading: any thread; each call reads again.
#pragma once

#include <cstdint>
#include <optional>

namespace bloomring {

struct ProcessStats {
  std::optional<double> cpu_seconds;
  std::optional<double> start_seconds;  // Since 1970-01-01 UTC.
  std::optional<uint64_t> resident_bytes;
  std::optional<uint64_t> virtual_bytes;
  std::optional<uint64_t> open_fds;
  std::optional<uint64_t> fds_max;
};

ProcessStats read_process_stats();

}  // namespace bloomring
