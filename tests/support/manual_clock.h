// A clock that tests move by hand, and whose wall time may be wrong.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace bloomring {

// Thread safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t now_ms() const override { return now_ms_.load() + wrong_by_ms_.load(); }
  int64_t steady_ns() const override { return now_ms_.load() * 1'000'000; }
  void advance_ms(int64_t delta_ms) { now_ms_ += delta_ms; }
  void advance_to_ms(int64_t now_ms) { now_ms_ = now_ms; }
  // FAULT: the wall time is this far ahead of the right time; behind it where negative.
  void set_wrong_by_ms(int64_t ahead_ms) { wrong_by_ms_ = ahead_ms; }

 private:
  std::atomic<int64_t> wrong_by_ms_{0};
  std::atomic<int64_t> now_ms_;
};

}  // namespace bloomring
