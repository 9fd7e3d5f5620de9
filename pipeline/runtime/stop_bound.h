// Bounds the orderly stop of a process, which a broker or a disk that does not answer could otherwise hold for ever.
//
// When the bound has passed since construction, it logs what the process was waiting for and ends the process with
// exit code 1. No data is lost: records that were not made durable are read again from the log.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "pipeline/runtime/worker.h"

namespace bloomring {

class StopBound {
 public:
  // `busy_with` returns what the process waits for. A separate thread calls it.
  StopBound(const Clock& clock, int64_t bound_ms, std::function<std::string()> busy_with);

 private:
  Worker thread_;
};

}  // namespace bloomring
