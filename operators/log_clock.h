// The current time of a log: the newest log time that was read, plus the time since then by a steady clock.
//
// Log time, which the brokers' clocks write, cuts the hours. A clock must also seal a quiet hour, but not this
// machine's: one that is ahead would open an hour far ahead of the log, and the ring would stand still until the log
// arrives there. The log time of a record plus a steady duration is never ahead of the brokers, however wrong the wall
// clock is.
//
// Log times may be wrong, too: a broker's clock may be ahead for a moment. And hours may have begun that the log has
// not reached, where an hour was ended because the log had lost records. The clock never goes back, so it does one of
// these:
//
//   ahead of the log by            the clock
//   up to kSlackMs                 goes on: brokers may differ by that much
//   up to kSlewedSlots slots       runs at half pace until the log has caught up: an hour takes up to two slots
//   more                           goes on: an hour that is days ahead must end, too (docs/decisions/0023)
//
// How far the log is: a record that was read after the log's end had been reached was written after that moment, so log
// time is at most the record's plus the time that has passed since.
// At a start, an hour up to a slot ahead waits for the log; the clock goes on from one that is further ahead.
// Threading: a value used by one thread. Times are Unix milliseconds, durations those of a steady clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace bloomring {

class LogClock {
 public:
  static constexpr int64_t kSlackMs = 1'000;
  // Where records were lost twice within an hour, the hour that begins is this far ahead at most.
  static constexpr int64_t kSlewedSlots = 2;

  // The newest hour, of slots of `slot_ms`, has begun at `begun_ms`; 0 when none has.
  explicit LogClock(int64_t begun_ms = 0, int64_t slot_ms = 0) : begun_ms_(begun_ms), slot_ms_(slot_ms) {}

  // A record was read.
  void saw(int64_t log_time_ms, int64_t steady_ms) {
    raise_to(log_time_ms, steady_ms);
    const int64_t begun_ms = std::exchange(begun_ms_, 0);
    if (begun_ms - log_time_ms > slot_ms_) raise_to(begun_ms, steady_ms);
    if (at_end_ms_) slew_to(log_time_ms + steady_ms - *at_end_ms_ + kSlackMs, steady_ms);
  }
  // The log was read to its end. The last record may have been written long ago, so the wall clock may be nearer to the
  // log's time. It is used once, and only up to the end of the filling hour: a wrong one costs at most one hour that is
  // cut too early.
  void reached_end(int64_t wall_ms, int64_t filling_end_ms, int64_t steady_ms) {
    if (!at_end_ms_) raise_to(std::min(wall_ms, filling_end_ms), steady_ms);
    at_end_ms_ = steady_ms;
  }
  // 0 before anything is known.
  int64_t now_ms(int64_t steady_ms) const { return now_half_ms(steady_ms) / 2; }

 private:
  int64_t now_half_ms(int64_t steady_ms) const {
    if (time_half_ms_ == 0) return 0;
    const int64_t elapsed_ms = steady_ms - seen_at_ms_;
    return time_half_ms_ + 2 * elapsed_ms - std::min(elapsed_ms, ahead_half_ms_);
  }
  void set(int64_t time_half_ms, int64_t ahead_half_ms, int64_t steady_ms) {
    time_half_ms_ = time_half_ms;
    ahead_half_ms_ = ahead_half_ms;
    seen_at_ms_ = steady_ms;
  }
  void raise_to(int64_t log_time_ms, int64_t steady_ms) {
    if (log_time_ms > now_ms(steady_ms)) set(2 * log_time_ms, 0, steady_ms);
  }
  // The log's time is `latest_ms` at most.
  void slew_to(int64_t latest_ms, int64_t steady_ms) {
    const int64_t now = now_half_ms(steady_ms);
    const int64_t ahead = now - 2 * latest_ms;
    set(now, ahead > 0 && ahead <= 2 * kSlewedSlots * slot_ms_ ? ahead : 0, steady_ms);
  }

  int64_t begun_ms_;  // 0 once a record was read.
  int64_t slot_ms_;
  // The time at `seen_at_ms_`, and how far it was ahead of the log. In half milliseconds, so that half pace is exact
  // however often it is computed.
  int64_t time_half_ms_ = 0;
  int64_t ahead_half_ms_ = 0;
  int64_t seen_at_ms_ = 0;
  std::optional<int64_t> at_end_ms_;  // When the log was last read to its end, by the steady clock.
};

}  // namespace bloomring
