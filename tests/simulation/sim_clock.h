// The clock of one process: what time it really is, and by how much this process is wrong about it. Steady time is
// right everywhere.
#pragma once

#include "base/clock.h"

namespace bloomring::simulation {

class SimClock final : public Clock {
 public:
  explicit SimClock(const Clock& truth) : truth_(truth) {}
  int64_t now_ms() const override { return truth_.now_ms() + off_ms_; }
  int64_t steady_ns() const override { return truth_.steady_ns(); }
  void set_off_ms(int64_t off_ms) { off_ms_ = off_ms; }
  int64_t off_ms() const { return off_ms_; }

 private:
  const Clock& truth_;
  int64_t off_ms_ = 0;
};

}  // namespace bloomring::simulation
