// By how much log time is ahead of a steady clock: the most that was heard lately.
//
// Brokers write log times, so the largest of them less the steady time of its reading is the brokers' time, as near as
// reading is prompt. Lately means the last kHeardMs to 2 * kHeardMs in which a log time was heard. After that the
// effect of a steady clock that is a little fast, or of one log time that was ahead, is gone.
// Threading: a value used by one thread. Times are Unix milliseconds, steady times milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bloomring {

class LogOffset {
 public:
  static constexpr int64_t kHeardMs = 300'000;  // A clock that is 50 ppm fast gains 30 ms in twice that.

  // The log has, or had at some earlier moment, this time.
  void saw(int64_t log_time_ms, int64_t steady_ms) {
    if (steady_ms - since_ms_ >= kHeardMs) {
      before_ms_ = steady_ms - since_ms_ < 2 * kHeardMs ? newest_ms_ : kUnknown;
      newest_ms_ = kUnknown;
      since_ms_ = steady_ms;
    }
    newest_ms_ = std::max(newest_ms_, log_time_ms - steady_ms);
  }

  // No value until a log time was heard.
  std::optional<int64_t> ms() const {
    const int64_t offset_ms = std::max(before_ms_, newest_ms_);
    return offset_ms == kUnknown ? std::nullopt : std::optional(offset_ms);
  }

 private:
  static constexpr int64_t kUnknown = INT64_MIN;
  int64_t since_ms_ = INT64_MIN / 2;  // Steady time.
  int64_t newest_ms_ = kUnknown;      // The largest offset heard since then...
  int64_t before_ms_ = kUnknown;      // ...and in the time before.
};

}  // namespace bloomring
