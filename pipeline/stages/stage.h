// A stage of a process as its process sees it: started, stopped, asked for its status.
//
// Threading: one thread starts and stops; `status` may be called from any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/metrics/partition_levels.h"

namespace bloomring {

enum class StopMode : uint8_t {
  kRestart,     // The member keeps its place in the group for its session, so that it can come back.
  kLeaveGroup,  // The group hands its partitions on at once.
};

struct StageStatus {
  std::string stage;
  std::string address;                    // "host:port" that takes calls; empty when there is none.
  std::vector<PartitionStatus> partitions;  // Of those that it works on now.
  std::map<std::string, double> numbers;  // Of the stage's own, by name: "recent_plays".
};

// {"stages":[{"stage":"serve","address":"127.0.0.1:7700","numbers":{"recent_plays":12},"partitions":[{"topic":
// "user-events","partition":0,"applied":100,"committed":90,"log_end":100,"behind_seconds":0}]}]}. Offsets that are not
// known are left out.
std::string to_json(const std::vector<StageStatus>& stages);

class Stage {
 public:
  virtual ~Stage() = default;
  // kInvalid when the set-up is wrong. A stage that fails later calls StageContext::on_failure.
  virtual Status start() = 0;
  // Called for each stage before any stage stops.
  virtual void begin_stop() {}
  // Everything that can be durable is durable afterwards. Harmless when it did not start, and the second time.
  virtual void stop(StopMode mode) = 0;
  virtual StageStatus status() const = 0;
};

}  // namespace bloomring
