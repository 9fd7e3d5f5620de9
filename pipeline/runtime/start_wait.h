// The waits of a starting process: for brokers, topics, the filter store. Each wait tries again until it succeeds, the
// bound has passed, or `give_up` is called.
//
// During a wait /readyz (the part "start") shows what the process waits for, since when, and why. The log says it at
// the beginning and every ten seconds.
// Threading: `until` belongs to the thread that starts the process; everything else is thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/runtime/health.h"

namespace bloomring {

class StartWait {
 public:
  // `bound_ms` counts from now, for all waits together; 0: no bound. `clock` and `health` outlive this.
  StartWait(const Clock& clock, Health& health, int64_t bound_ms);

  // Calls `attempt` five times a second while it returns kRetry, and returns its first other status. One attempt
  // should take a few seconds at most. kFatal, with the last attempt's reason, when the bound has passed, and after
  // `give_up`. `what` completes "waiting for": "brokers".
  Status until(const std::string& what, const std::function<Status()>& attempt);

  // Ends the current wait and all later ones, without another attempt.
  void give_up() { given_up_ = true; }
  bool given_up() const { return given_up_; }
  // "brokers since 2026-11-22T13:00:00Z: no broker answered"; empty when it does not wait.
  std::string waiting_for() const;
  // The start is over: /readyz now shows only the stages.
  void done();

 private:
  void report(const std::string& text, bool log);
  bool is_over() const;

  const Clock& clock_;
  Health& health_;
  const int64_t bound_ms_;
  const int64_t began_ns_;
  std::atomic<bool> given_up_{false};
  mutable std::mutex mutex_;
  std::string waiting_for_;
};

}  // namespace bloomring
