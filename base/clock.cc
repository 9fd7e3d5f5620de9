#include "base/clock.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace bloomring {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

int64_t SystemClock::now_ms() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

int64_t SystemClock::steady_ns() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

SteppedClock::SteppedClock(const Clock& clock, int64_t step_ms, int64_t after_ms, int64_t for_ms)
    : clock_(clock),
      step_ms_(step_ms),
      from_ns_(clock.steady_ns() + after_ms * kNsPerMs),
      until_ns_(for_ms == kForEver ? INT64_MAX : from_ns_ + for_ms * kNsPerMs) {}

std::unique_ptr<SteppedClock> SteppedClock::from_environment(const Clock& clock) {
  const char* wanted = std::getenv("BLOOMRING_CLOCK_STEP");
  long long step_ms = 0, after_ms = 0, for_ms = kForEver;
  if (wanted == nullptr || std::sscanf(wanted, "%lld:%lld:%lld", &step_ms, &after_ms, &for_ms) < 2) return nullptr;
  return std::make_unique<SteppedClock>(clock, step_ms, after_ms, for_ms);
}

int64_t SteppedClock::now_ms() const {
  const int64_t steady = clock_.steady_ns();
  return clock_.now_ms() + (steady >= from_ns_ && steady < until_ns_ ? step_ms_ : 0);
}

}  // namespace bloomring
