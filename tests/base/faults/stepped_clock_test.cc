#include "base/faults/stepped_clock.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

namespace bloomring {

TEST_CASE("stepped clock: tells the wrong time from its moment on, and steady time as it is") {
  ManualClock manual(1'000'000);
  const SteppedClock clock(manual, -240'000, 5'000);
  manual.advance_ms(4'999);
  CHECK(clock.now_ms() == 1'004'999);
  manual.advance_ms(1);
  CHECK(clock.now_ms() == 1'005'000 - 240'000);
  CHECK(clock.steady_ns() == manual.steady_ns());
}

TEST_CASE("stepped clock: one that is stepped for a while is right again after it") {
  ManualClock manual(1'000'000);
  const SteppedClock clock(manual, 7'200'000, 5'000, 3'000);
  manual.advance_ms(7'999);
  CHECK(clock.now_ms() == 1'007'999 + 7'200'000);
  manual.advance_ms(1);
  CHECK(clock.now_ms() == 1'008'000);
}

TEST_CASE("stepped clock: steps as its text says, and says how a text that cannot be read is written") {
  const ManualClock manual(0);
  const auto for_ever = SteppedClock::make(manual, "30000:0");
  REQUIRE(for_ever.ok());
  CHECK((*for_ever)->now_ms() == 30'000);
  const auto over = SteppedClock::make(manual, "30000:0:0");
  REQUIRE(over.ok());
  CHECK((*over)->now_ms() == 0);
  for (const char* text : {"", "soon", "30000", "30000:"}) {
    CAPTURE(text);
    const Status status = SteppedClock::make(manual, text).status();
    CHECK(status.code() == Code::kInvalid);
    CHECK_THAT(status.message(), Catch::Contains("STEP_MS:AFTER_MS"));
  }
}

}  // namespace bloomring
