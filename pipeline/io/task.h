// A task: the work of one stage on one partition (ingest: on all partitions of this process), owned by one thread.
//
// Production loops over `step`; tests call it by hand. A step does one bounded batch of work and never waits.
// Failure: kRetry never leaves a task (it keeps the record and tries again at a later step); kFenced and kFatal do,
// and stop the process, loudly.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace bloomring {

class Task {
 public:
  virtual ~Task() = default;
  // Does one bounded batch at this wall time. Returns whether anything was done: false lets the thread wait a little.
  virtual Result<bool> step(int64_t now_ms) = 0;
};

// A task that works on one partition.
class PartitionTask : public Task {
 public:
  // Makes durable what it has done: before a planned stop.
  virtual Status close() = 0;
};

}  // namespace bloomring
