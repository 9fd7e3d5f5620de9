// Time as an argument: all code that reads the time holds a Clock&.
//
// Wall time is Unix milliseconds (UTC); steady time is for durations only and has no meaning across processes.
// SystemClock is the only place in the tree that reads the machine's clock.
#pragma once

#include <cstdint>

namespace bloomring {

class Clock {
 public:
  virtual ~Clock() = default;
  // Unix time in milliseconds. May jump when the machine's clock is set.
  virtual int64_t now_ms() const = 0;
  // Nanoseconds since an arbitrary start; never goes back, and goes on while the machine sleeps: a lease ends, and what
  // was fresh grows old.
  virtual int64_t steady_ns() const = 0;
};

// The machine's clocks. Thread safe.
class SystemClock final : public Clock {
 public:
  int64_t now_ms() const override;
  int64_t steady_ns() const override;
};

}  // namespace bloomring
