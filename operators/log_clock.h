// The current time of a log, and the time by which its hours end.
//
// Log time, which the brokers' clocks write, cuts the hours. A clock must also seal a quiet hour, but not this
// machine's: one that is ahead would open an hour far ahead of the log, and the ring would stand still until the log
// arrives there. The log time of a record plus a steady duration is never ahead of the brokers, however wrong the wall
// clock is. One log time that is itself ahead counts for minutes (state/log_offset.h); one that is more than a slot
// ahead, until the next record comes.
//
// The filling hour may be ahead of the log: after one log time that was ahead, or where an hour was ended because the
// log had lost records.
//
//   filling hour                  it ends
//   that of the log, or the next  when the log has passed its end
//   further ahead                 with the hour of the log in which it began to fill
//
// So each hour ends with an hour of the log, whatever its number is. The log says which hour that was: a task that
// begins without local state reads it again.
// Threading: a value used by one thread. Times are Unix milliseconds, those of a steady clock milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/ids.h"
#include "state/log_offset.h"

namespace bloomring {

class LogClock {
 public:
  explicit LogClock(int64_t slot_ms) : slot_ms_(slot_ms) {}

  // An earlier life noted this `log_ms`.
  void resume(int64_t noted_ms, int64_t steady_ms) { offset_.saw(noted_ms, steady_ms); }
  // A record was read.
  void saw(int64_t log_time_ms, int64_t steady_ms) {
    const bool was_ahead = first_heard_ >= 0 && log_ms(steady_ms) - log_time_ms > slot_ms_;
    if (was_ahead) offset_ = {};
    offset_.saw(log_time_ms, steady_ms);
    if (first_heard_ < 0) first_heard_ = log_time_ms / slot_ms_;
  }
  // The log was read to its end while this hour fills. The last record may have been written long ago, so the wall
  // clock may be nearer to the log's time. It is used once, and only as far as the end of the hour: a wrong one costs
  // at most one hour that is cut too early.
  void reached_end(HourIndex filling, int64_t wall_ms, int64_t steady_ms) {
    if (!std::exchange(asked_, true)) offset_.saw(std::min(wall_ms, (filling.value + 1) * slot_ms_), steady_ms);
    follow(filling, steady_ms);
  }
  // This hour fills. To be called when it may be another one. Until the log was read to its end nothing is said of the
  // hour: records may come that are as new as it is.
  void follow(HourIndex filling, int64_t steady_ms) {
    if (!asked_) return;
    const int64_t hour = log_hour(steady_ms);
    if (filling_ != filling.value) {
      const bool before_this_life = filling_ < 0 && filling.value - hour > 1;
      log_hour_of_filling_ = before_this_life && first_heard_ >= 0 ? std::min(hour, first_heard_) : hour;
      filling_ = filling.value;
    }
    log_hour_of_filling_ = std::min(log_hour_of_filling_, hour);  // The log's time was ahead when it began.
  }
  // The log's time; 0 before anything is known.
  int64_t log_ms(int64_t steady_ms) const { return offset_.ms() ? steady_ms + *offset_.ms() : 0; }
  // The time by which hours end: that of the log, or as far ahead of it as the filling hour is.
  int64_t now_ms(int64_t steady_ms) const {
    return log_hour(steady_ms) >= filling_ ? log_ms(steady_ms) : log_ms(steady_ms) + ahead_ms();
  }

 private:
  int64_t log_hour(int64_t steady_ms) const { return log_ms(steady_ms) / slot_ms_; }
  // Whole slots, so that hours end where those of the log do. A slot is none: the log is there soon.
  int64_t ahead_ms() const {
    const int64_t slots = filling_ - log_hour_of_filling_;
    return slots > 1 ? slots * slot_ms_ : 0;
  }

  int64_t slot_ms_;
  LogOffset offset_;
  int64_t first_heard_ = -1;          // The hour of the first record; -1 before it.
  int64_t filling_ = -1;              // -1: no hour is followed yet.
  int64_t log_hour_of_filling_ = -1;  // The hour of the log in which the filling one began.
  bool asked_ = false;                // The log was read to its end once.
};

}  // namespace bloomring
