#include "operators/log_clock.h"

#include <catch2/catch.hpp>

namespace bloomring {

TEST_CASE("log clock: it knows nothing before the first record") { CHECK(LogClock().now_ms(5'000) == 0); }

TEST_CASE("log clock: the newest log time goes on with the steady clock, and an older one does not set it back") {
  LogClock clock;
  clock.saw(1'000'000, 50);
  CHECK(clock.now_ms(50) == 1'000'000);
  CHECK(clock.now_ms(1'050) == 1'001'000);
  clock.saw(1'000'500, 1'050);
  CHECK(clock.now_ms(1'050) == 1'001'000);
  clock.saw(1'002'000, 1'050);
  CHECK(clock.now_ms(1'150) == 1'002'100);
}

TEST_CASE("log clock: at the end of the log the wall clock counts once, and ends the filling hour at most") {
  LogClock clock;
  clock.saw(1'000'000, 0);
  SECTION("one that is right shows that the records were old") {
    clock.reached_end(1'300'000, 3'600'000, 10);
    CHECK(clock.now_ms(10) == 1'300'000);
  }
  SECTION("one that is ahead") {
    clock.reached_end(900'000'000, 3'600'000, 10);
    CHECK(clock.now_ms(10) == 3'600'000);
    clock.reached_end(900'000'000, 7'200'000, 20);
    CHECK(clock.now_ms(20) == 3'600'010);
  }
  SECTION("one that is behind") {
    clock.reached_end(5, 3'600'000, 10);
    CHECK(clock.now_ms(10) == 1'000'010);
  }
}

TEST_CASE("log clock: an hour that began up to a slot ahead waits for the log") {
  LogClock clock(3'600'000, 3'600'000);
  clock.saw(10'000, 0);
  CHECK(clock.now_ms(500) == 10'500);
}

TEST_CASE("log clock: time goes on from an hour that began more than a slot ahead") {
  LogClock clock(7'200'000, 3'600'000);
  CHECK(clock.now_ms(0) == 0);
  clock.saw(10'000, 0);
  CHECK(clock.now_ms(500) == 7'200'500);
  clock.saw(11'000, 1'000);
  CHECK(clock.now_ms(1'000) == 7'201'000);
}

}  // namespace bloomring
