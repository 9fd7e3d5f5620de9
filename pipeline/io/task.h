// A task: the work of one stage on one partition (ingest: on all partitions of this process), owned by one thread.
//
// Production loops over `step`; tests call it by hand. A step does one bounded batch of work and never waits. A loop
// that waits inside a library, as that of a consumer group does, is no task (pipeline/io/poller.h).
// Errors: a task never returns kRetry: it keeps the record and tries again at a later step. kFenced and kFatal stop
// the process, with an error in the log.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace bloomring {

class Task {
 public:
  virtual ~Task() = default;
  // Does one bounded batch at this wall time. Returns false when there was nothing to do: the thread then waits a
  // little.
  virtual Result<bool> step(int64_t now_ms) = 0;
};

// A task that works on one partition.
class PartitionTask : public Task {
 public:
  // Makes its work durable before a planned stop.
  virtual Status close() = 0;
};

}  // namespace bloomring
