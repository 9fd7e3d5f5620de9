// Tells errors that their rate explains from more of them.
// Threading: pure function.
#pragma once

#include <cmath>
#include <cstdint>

namespace bloomring {

// True when `found` of `asked` independent questions are more than four standard deviations above the rate.
inline bool above_rate(uint64_t found, uint64_t asked, double rate) {
  const double expected = rate * static_cast<double>(asked);
  return static_cast<double>(found) > expected + 4 * std::sqrt(expected) + 1;
}

}  // namespace bloomring
