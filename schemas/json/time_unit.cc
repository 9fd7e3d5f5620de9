#include "schemas/json/time_unit.h"

#include <cmath>

#include "schemas/event.h"

namespace bloomring {

int64_t units_per_second(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds: return 1;
    case TimeUnit::kMilliseconds: return 1'000;
    case TimeUnit::kMicroseconds: return 1'000'000;
  }
  return 1'000;
}

// A decimal fraction such as .123 s is no binary one, so a product may lie below the whole millisecond by its rounding
// errors: at most 2^-12 ms each for the number and for the product, below 2^42 ms (the year 2109).
int64_t number_to_ms(double value, TimeUnit unit) {
  constexpr double kRoundingMs = 1.0 / 2048;
  const double ms = value * 1'000.0 / static_cast<double>(units_per_second(unit));
  if (!(ms > -1e18 && ms < 1e18)) return ms > 0 ? kEventTimeEndMs : -1;
  return static_cast<int64_t>(std::floor(ms + kRoundingMs));
}

int64_t integer_to_ms(int64_t value, TimeUnit unit) {
  if (value < 0) return -1;
  const int64_t units = units_per_second(unit);
  if (value / units >= kEventTimeEndMs / 1'000) return kEventTimeEndMs;
  return units > 1'000 ? value / (units / 1'000) : value * (1'000 / units);
}

}  // namespace bloomring
