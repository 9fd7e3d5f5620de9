// Makes the process unhealthy while a port of it is deaf.
//
// A stage has the port asked from time to time, from outside as a client does. When no question was answered for
// `deaf_ms`, /healthz fails, because a restart helps. The process is healthy again after the next answer.
// Threading: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/runtime/health.h"

namespace bloomring {

class PortWatch {
 public:
  // `part` is the name in /healthz. `ask` returns success when the port has answered. The rest outlives the watch.
  PortWatch(std::string part, std::function<Status()> ask, const Clock& clock, int64_t deaf_ms, Health& health);
  // Asks once. The time before the first question counts as answered.
  void look();

 private:
  const std::string part_;
  const std::function<Status()> ask_;
  const Clock& clock_;
  const int64_t deaf_ns_;
  Health& health_;
  int64_t last_answer_ns_;  // When the last question that got an answer was asked, by the steady clock.
  bool deaf_ = false;
};

}  // namespace bloomring
