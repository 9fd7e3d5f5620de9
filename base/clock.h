// Time as an argument: all code that reads the time holds a Clock&.
//
// Wall time is Unix milliseconds (UTC); steady time is for durations only and has no meaning across processes.
// SystemClock is the only place in the tree that reads the machine's clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace bloomring {

class Clock {
 public:
  virtual ~Clock() = default;
  // Unix time in milliseconds. May jump when the machine's clock is set.
  virtual int64_t now_ms() const = 0;
  // Nanoseconds since an arbitrary start; never goes back.
  virtual int64_t steady_ns() const = 0;
};

// The machine's clocks. Thread safe.
class SystemClock final : public Clock {
 public:
  int64_t now_ms() const override;
  int64_t steady_ns() const override;
};

// For tests of whole processes: wraps a clock and moves its wall time while the process runs, as an administrator or a
// lost time server does. It adds `step_ms` from `after_ms` after its construction, for `for_ms`; then the wall time is
// right again. Thread safe.
class SteppedClock final : public Clock {
 public:
  static constexpr int64_t kForEver = -1;
  // `clock` outlives this one.
  SteppedClock(const Clock& clock, int64_t step_ms, int64_t after_ms, int64_t for_ms = kForEver);
  // The step that BLOOMRING_CLOCK_STEP=STEP_MS:AFTER_MS[:FOR_MS] asks for; null when the variable is not set or cannot
  // be read.
  static std::unique_ptr<SteppedClock> from_environment(const Clock& clock);
  int64_t now_ms() const override;
  int64_t steady_ns() const override { return clock_.steady_ns(); }

 private:
  const Clock& clock_;
  const int64_t step_ms_;
  const int64_t from_ns_;
  const int64_t until_ns_;
};

// A clock that tests move by hand, and whose wall time may be wrong. Thread safe.
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
