// The current time of a log: the newest log time that was read, plus the time since then by a steady clock.
//
// Log time, which the brokers' clocks write, cuts the hours. A clock must also seal a quiet hour, but not this
// machine's: one that is ahead would open an hour far ahead of the log, and the ring would stand still until the log
// arrives there. The log time of a record plus a steady duration is never ahead of the brokers, however wrong the wall
// clock is.
//
// Hours may have begun that the log has not reached: after one log time far ahead, or where an hour was ended because
// the log had lost records. An hour far ahead must end too, so time goes on from its start. Up to a slot ahead the hour
// waits for the log, which reaches it soon; otherwise every later hour would end as much too early.
// Threading: a value used by one thread. Times are Unix milliseconds, durations those of a steady clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace bloomring {

class LogClock {
 public:
  // The newest hour, of slots of `slot_ms`, has begun at `begun_ms`; 0 when none has.
  explicit LogClock(int64_t begun_ms = 0, int64_t slot_ms = 0) : begun_ms_(begun_ms), slot_ms_(slot_ms) {}

  // A record was read.
  void saw(int64_t log_time_ms, int64_t steady_ms) {
    raise_to(log_time_ms, steady_ms);
    const int64_t begun_ms = std::exchange(begun_ms_, 0);
    if (begun_ms - log_time_ms > slot_ms_) raise_to(begun_ms, steady_ms);
  }
  // The log was read to its end. The last record may have been written long ago, so the wall clock may be nearer to the
  // log's time. It is used once, and only up to the end of the filling hour: a wrong one costs at most one hour that is
  // cut too early.
  void reached_end(int64_t wall_ms, int64_t filling_end_ms, int64_t steady_ms) {
    if (!std::exchange(asked_, true)) raise_to(std::min(wall_ms, filling_end_ms), steady_ms);
  }
  // 0 before anything is known.
  int64_t now_ms(int64_t steady_ms) const { return log_time_ms_ == 0 ? 0 : log_time_ms_ + steady_ms - seen_at_ms_; }

 private:
  void raise_to(int64_t log_time_ms, int64_t steady_ms) {
    if (log_time_ms <= now_ms(steady_ms)) return;
    log_time_ms_ = log_time_ms;
    seen_at_ms_ = steady_ms;
  }

  int64_t begun_ms_;  // 0 once a record was read.
  int64_t slot_ms_;
  int64_t log_time_ms_ = 0;
  int64_t seen_at_ms_ = 0;
  bool asked_ = false;
};

}  // namespace bloomring
