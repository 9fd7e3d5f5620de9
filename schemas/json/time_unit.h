// The units of event times that are numbers, since 1970-01-01 UTC: in plays as JSON, and in the scores of old sets.
// Threading: pure functions.
#pragma once

#include <cstdint>

namespace bloomring {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds, kMicroseconds };
int64_t units_per_second(TimeUnit unit);

// Unix milliseconds of a number in `unit`, rounded down, or a value outside the accepted event times (schemas/event.h)
// when it is out of range.
int64_t number_to_ms(double value, TimeUnit unit);
int64_t integer_to_ms(int64_t value, TimeUnit unit);

}  // namespace bloomring
