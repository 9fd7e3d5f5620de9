#include "base/faults/stepped_clock.h"

#include <cstdio>
#include <string>

namespace bloomring {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

SteppedClock::SteppedClock(const Clock& clock, int64_t step_ms, int64_t after_ms, int64_t for_ms)
    : clock_(clock),
      step_ms_(step_ms),
      from_ns_(clock.steady_ns() + after_ms * kNsPerMs),
      until_ns_(for_ms == kForEver ? INT64_MAX : from_ns_ + for_ms * kNsPerMs) {}

Result<std::unique_ptr<const Clock>> SteppedClock::make(const Clock& clock, const char* text) {
  long long step_ms = 0, after_ms = 0, for_ms = kForEver;
  if (std::sscanf(text, "%lld:%lld:%lld", &step_ms, &after_ms, &for_ms) < 2) {
    return invalid("BLOOMRING_CLOCK_STEP: " + std::string(text) + ": must be STEP_MS:AFTER_MS[:FOR_MS]");
  }
  return std::unique_ptr<const Clock>(std::make_unique<SteppedClock>(clock, step_ms, after_ms, for_ms));
}

int64_t SteppedClock::now_ms() const {
  const int64_t steady = clock_.steady_ns();
  return clock_.now_ms() + (steady >= from_ns_ && steady < until_ns_ ? step_ms_ : 0);
}

}  // namespace bloomring
