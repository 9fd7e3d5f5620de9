// The pressure of a running process, as its pages tell it: /status and /metrics of its admin port.
//
//   sign                                                     high            stop
//   ingest, window or serve is behind its log                2 s             10 s
//   merge is behind its log                                  60 s            600 s
//   recent plays exceed their share of memory (unmerged)                     any partition
//   writes to RocksDB wait for flushes and compactions       a tenth of the time since the last look
//   tasks of the process make no step                                        any task
//
// A stage is asked for the end of its log once a second, so up to a second behind is none.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pipeline/jobs/brake.h"

namespace bloomring {

struct ProcessSigns {
  std::map<std::string, double> behind_seconds;  // By stage: of the partition that is most behind.
  double over_bound_partitions = 0;
  double stalled_tasks = 0;
  double write_stall_seconds = 0;  // Since the start of the process.
};

// kBadRecord when the status is not that of a process of bloomring.
Result<ProcessSigns> read_signs(std::string_view status_json, std::string_view metrics);
// The worst of the signs. `before`: of the same process, `seconds` ago.
LivePressure pressure_of(const ProcessSigns& now, const std::optional<ProcessSigns>& before, double seconds);

}  // namespace bloomring
