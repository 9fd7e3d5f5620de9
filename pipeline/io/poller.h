// A loop of another library that a thread of ours drives, such as that of a consumer group: each call waits inside the
// library for its messages. A task (pipeline/io/task.h) is the opposite: its step never waits.
//
// A worker (pipeline/runtime/worker.h) drives one poller and nothing else, so no task waits behind a poll.
// Threading: the worker's thread.
#pragma once

#include "base/result.h"

namespace bloomring {

class Poller {
 public:
  virtual ~Poller() = default;
  // Serves the library until a message came or a wait with a bound is over. Returns false when it could not wait there:
  // the worker then waits a little itself.
  // Errors: never kRetry: a later call tries again. Any other failure ends the polling, and the worker reports it.
  virtual Result<bool> poll() = 0;
};

}  // namespace bloomring
