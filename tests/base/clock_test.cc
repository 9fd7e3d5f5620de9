#include "base/clock.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace bloomring {

TEST_CASE("clock: a stepped one tells the wrong time from its moment on, and steady time as it is") {
  ManualClock manual(1'000'000);
  const SteppedClock clock(manual, -240'000, 5'000);
  manual.advance_ms(4'999);
  CHECK(clock.now_ms() == 1'004'999);
  manual.advance_ms(1);
  CHECK(clock.now_ms() == 1'005'000 - 240'000);
  CHECK(clock.steady_ns() == manual.steady_ns());
}

TEST_CASE("clock: one that is stepped for a while is right again after it") {
  ManualClock manual(1'000'000);
  const SteppedClock clock(manual, 7'200'000, 5'000, 3'000);
  manual.advance_ms(7'999);
  CHECK(clock.now_ms() == 1'007'999 + 7'200'000);
  manual.advance_ms(1);
  CHECK(clock.now_ms() == 1'008'000);
}

TEST_CASE("clock: steps are asked for by the environment and by nothing else") {
  const ManualClock manual(0);
  ::unsetenv("BLOOMRING_CLOCK_STEP");
  CHECK(SteppedClock::from_environment(manual) == nullptr);
  ::setenv("BLOOMRING_CLOCK_STEP", "soon", 1);
  CHECK(SteppedClock::from_environment(manual) == nullptr);
  ::setenv("BLOOMRING_CLOCK_STEP", "30000:0", 1);
  const auto stepped = SteppedClock::from_environment(manual);
  REQUIRE(stepped);
  CHECK(stepped->now_ms() == 30'000);
  ::setenv("BLOOMRING_CLOCK_STEP", "30000:0:0", 1);
  const auto over = SteppedClock::from_environment(manual);
  REQUIRE(over);
  CHECK(over->now_ms() == 0);
  ::unsetenv("BLOOMRING_CLOCK_STEP");
}

}  // namespace bloomring
