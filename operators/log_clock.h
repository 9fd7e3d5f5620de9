// What time it is for a log: the newest log time that was read, carried forward by the time that has passed since.
//
// Hours are cut by log time, which the brokers' clocks write. A quiet hour is sealed by a clock too, and must not be
// sealed by this machine's: one that is ahead would open an hour that is far ahead of the log, and the ring would stand
// still until the log arrives there. What a record said before the durations of a steady clock is never ahead of the
// brokers, however wrong the wall clock is.
// Threading: a value used by one thread. Times are Unix milliseconds, durations those of a steady clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace bloomring {

class LogClock {
 public:
  // A record was read.
  void saw(int64_t log_time_ms, int64_t steady_ms) { raise_to(log_time_ms, steady_ms); }
  // The log was read to its end, where the wall clock may know more: a record that was read at once may have been
  // written long ago. It is believed once, and no further than to the end of the hour that is filling, so that one that
  // is wrong costs an hour that is cut too early and no more.
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

  int64_t log_time_ms_ = 0;
  int64_t seen_at_ms_ = 0;
  bool asked_ = false;
};

}  // namespace bloomring
