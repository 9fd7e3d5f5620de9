// A clock that is wrong for tests of whole processes: it wraps a clock and moves its wall time while the process runs,
// as an administrator or a lost time server does.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/result.h"

namespace bloomring {

// Adds `step_ms` to the wall time from `after_ms` after its construction, for `for_ms`; then the wall time is right
// again. Thread safe.
class SteppedClock final : public Clock {
 public:
  static constexpr int64_t kForEver = -1;
  // `clock` outlives this one.
  SteppedClock(const Clock& clock, int64_t step_ms, int64_t after_ms, int64_t for_ms = kForEver);
  // The step that `text`, STEP_MS:AFTER_MS[:FOR_MS], asks for. kInvalid when it cannot be read.
  static Result<std::unique_ptr<const Clock>> make(const Clock& clock, const char* text);
  int64_t now_ms() const override;
  int64_t steady_ns() const override { return clock_.steady_ns(); }

 private:
  const Clock& clock_;
  const int64_t step_ms_;
  const int64_t from_ns_;
  const int64_t until_ns_;
};

}  // namespace bloomring
