#include "schemas/json/time_unit.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "schemas/event.h"

using namespace bloomring;

namespace {

constexpr TimeUnit kUnits[] = {TimeUnit::kSeconds, TimeUnit::kMilliseconds, TimeUnit::kMicroseconds};
constexpr int64_t kTimeMs = 1'790'000'000'123;

}  // namespace

TEST_CASE("time units: a time in each unit is the same milliseconds, as integer and as number") {
  CHECK(integer_to_ms(kTimeMs / 1'000, TimeUnit::kSeconds) == kTimeMs - 123);
  CHECK(integer_to_ms(kTimeMs, TimeUnit::kMilliseconds) == kTimeMs);
  CHECK(integer_to_ms(kTimeMs * 1'000, TimeUnit::kMicroseconds) == kTimeMs);
  CHECK(number_to_ms(kTimeMs / 1'000.0, TimeUnit::kSeconds) == kTimeMs);
  CHECK(number_to_ms(static_cast<double>(kTimeMs), TimeUnit::kMilliseconds) == kTimeMs);
  CHECK(number_to_ms(kTimeMs * 1'000.0, TimeUnit::kMicroseconds) == kTimeMs);
}

TEST_CASE("time units: a part of a millisecond is cut off") {
  CHECK(integer_to_ms(kTimeMs * 1'000 + 999, TimeUnit::kMicroseconds) == kTimeMs);
  CHECK(number_to_ms(kTimeMs + 0.75, TimeUnit::kMilliseconds) == kTimeMs);
}

TEST_CASE("time units: each millisecond of a second as a decimal fraction is that millisecond") {
  for (int64_t ms = 0; ms < 1'000; ++ms) {
    CAPTURE(ms);
    CHECK(number_to_ms(static_cast<double>(kTimeMs - 123 + ms) / 1'000.0, TimeUnit::kSeconds) == kTimeMs - 123 + ms);
  }
}

TEST_CASE("time units: a value without a time is outside the accepted event times") {
  for (const TimeUnit unit : kUnits) {
    CHECK(integer_to_ms(-1, unit) < 0);
    CHECK(integer_to_ms(std::numeric_limits<int64_t>::min(), unit) < 0);
    CHECK(number_to_ms(-INFINITY, unit) < 0);
    CHECK(number_to_ms(INFINITY, unit) >= kEventTimeEndMs);
    CHECK(number_to_ms(1e300, unit) >= kEventTimeEndMs);
    const int64_t nan = number_to_ms(NAN, unit);
    CHECK((nan < 0 || nan >= kEventTimeEndMs));
    CHECK(integer_to_ms(std::numeric_limits<int64_t>::max(), unit) >= kEventTimeEndMs);
  }
}
