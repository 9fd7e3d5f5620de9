// A stage of a process as its process sees it: started, stopped, asked for its status.
//
// Threading: one thread starts and stops; `status` may be called from any thread.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "pipeline/status/stage_status.h"

namespace bloomring {

enum class StopMode : uint8_t {
  kRestart,     // The member keeps its place in the group for its session, so that it can come back.
  kLeaveGroup,  // The group hands its partitions on at once.
};

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
