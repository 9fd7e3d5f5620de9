// Bounds the orderly end of a process: what hangs (a broker that does not answer, a disk) must not hold it for ever.
//
// From its construction on, the process ends by itself with exit code 1 when the bound has passed, after a line in the
// log that says what it was waiting for. Nothing is lost by that: what was not made durable is read again from the log.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "pipeline/runtime/worker.h"

namespace bloomring {

class StopBound {
 public:
  // `busy_with` says what the process waits for; it is called on a thread of its own.
  StopBound(const Clock& clock, int64_t bound_ms, std::function<std::string()> busy_with);

 private:
  Worker thread_;
};

}  // namespace bloomring
