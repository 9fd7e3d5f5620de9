#include "base/clock.h"

#include <ctime>

#include <chrono>

namespace bloomring {

int64_t SystemClock::now_ms() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

int64_t SystemClock::steady_ns() const {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);  // CLOCK_MONOTONIC, and so std::chrono::steady_clock, stands in a sleep.
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace bloomring
