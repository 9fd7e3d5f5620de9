// What a starting process waits for: brokers, topics, the filter store. It asks again until what it needs is there, the
// bound has passed, or it is told to give up.
//
// /readyz says meanwhile what it waits for, since when, and why (the part "start"); the log says it at the beginning
// and every ten seconds.
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
  // The bound counts from now, for all waits together; 0 is none. Both outlive this.
  StartWait(const Clock& clock, Health& health, int64_t bound_ms);

  // Makes attempts as long as they say kRetry, five times a second; an attempt itself takes a few seconds at most. What
  // another one says is the outcome. kFatal when the bound has passed, with what the last attempt said, and after
  // `give_up`. `what` stands behind "waiting for": "brokers".
  Status until(const std::string& what, const std::function<Status()>& attempt);

  // Ends the wait, and all later ones, without an attempt more.
  void give_up() { given_up_ = true; }
  bool given_up() const { return given_up_; }
  // "brokers since 2026-11-22T13:00:00Z: no broker answered"; empty while it waits for nothing.
  std::string waiting_for() const;
  // The start is over: /readyz speaks for the stages alone.
  void done();

 private:
  void tell(const std::string& text, bool log);
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
