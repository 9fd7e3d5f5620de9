// The current time by the log of a partition, and the bounds that follow for "now".
//
// The brokers' clocks write log times, the machine's clock gives wall time, and either may be wrong by minutes or
// months.
// - The log's time is the newest log time that was heard lately, carried forward by a steady clock. It is not ahead of
//   the brokers; it is behind them while nothing is written.
// - Lately means the last kHeardMs to 2 * kHeardMs in which a log time was heard. After that the effect of a steady
//   clock that is a little fast, or of a broker whose clock was ahead, is gone.
// - A question is asked at some time between the two clocks, so time-dependent steps must be right at both ends.
// - Before any log time is heard (retention has left no record in the log), the end of the merged hours replaces it,
//   but only in the later bound: hours may run ahead of log time.
//
//   log       quiet or the machine's clock ahead:  log ------- wall     the machine's clock behind:  wall ---- log
//   question  earliest = log, latest = wall                             earliest = wall, latest = log
//
// Threading: thread safe. Times are Unix milliseconds, steady times nanoseconds (base/clock.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/clock.h"

namespace bloomring {

struct TimeBounds {
  int64_t earliest_ms = 0;
  int64_t latest_ms = 0;
};

class LogTime {
 public:
  static constexpr int64_t kHeardMs = 300'000;  // A clock that is 50 ppm fast gains 30 ms in twice that.

  // The end of the merged hours; 0: nothing is merged.
  explicit LogTime(int64_t merged_hours_end_ms = 0) : merged_hours_end_ms_(merged_hours_end_ms) {}

  // The log has, or had at some earlier moment, this time.
  void saw(int64_t log_time_ms, int64_t steady_ns) {
    const int64_t steady_ms = steady_ns / kNsPerMs;
    const std::lock_guard lock(mutex_);
    if (steady_ms - since_ms_ >= kHeardMs) {
      before_ms_ = steady_ms - since_ms_ < 2 * kHeardMs ? newest_ms_ : kUnknown;
      newest_ms_ = kUnknown;
      since_ms_ = steady_ms;
    }
    newest_ms_ = std::max(newest_ms_, log_time_ms - steady_ms);
    offset_ms_.store(std::max(before_ms_, newest_ms_), std::memory_order_relaxed);
  }

  // No value until a log time was heard.
  std::optional<int64_t> now_ms(int64_t steady_ns) const {
    const int64_t offset_ms = offset_ms_.load(std::memory_order_relaxed);
    if (offset_ms == kUnknown) return std::nullopt;
    return steady_ns / kNsPerMs + offset_ms;
  }

  // `merged_ms`: merged log time of the store, which knows of other partitions' logs too (state/merged_time.h). While
  // no log time is known it uses the machine's clock alone.
  TimeBounds bounds(const Clock& clock, std::optional<int64_t> merged_ms = std::nullopt) const {
    const int64_t wall_ms = clock.now_ms();
    const std::optional<int64_t> heard_ms = now_ms(clock.steady_ns());
    const int64_t log_ms = std::max(heard_ms, merged_ms).value_or(wall_ms);
    const int64_t latest_ms = heard_ms ? log_ms : std::max(log_ms, merged_hours_end_ms_);
    return {std::min(wall_ms, log_ms), std::max(wall_ms, latest_ms)};
  }

 private:
  static constexpr int64_t kNsPerMs = 1'000'000;
  static constexpr int64_t kUnknown = INT64_MIN;
  const int64_t merged_hours_end_ms_;
  std::atomic<int64_t> offset_ms_{kUnknown};  // Log time less steady time; the largest heard lately.
  std::mutex mutex_;                          // Guards what follows, in `saw`.
  int64_t since_ms_ = INT64_MIN / 2;          // Steady time.
  int64_t newest_ms_ = kUnknown;              // The largest offset heard since then...
  int64_t before_ms_ = kUnknown;              // ...and in the time before.
};

}  // namespace bloomring
