#include "operators/log_clock.h"

#include <catch2/catch.hpp>

namespace bloomring {
namespace {

constexpr int64_t kSlotMs = 3'600'000;

int64_t hour(const LogClock& clock, int64_t steady_ms) { return clock.now_ms(steady_ms) / kSlotMs; }

}  // namespace

TEST_CASE("log clock: it knows nothing before the first record") { CHECK(LogClock(kSlotMs).now_ms(5'000) == 0); }

TEST_CASE("log clock: the newest log time goes on with the steady clock, and an older one does not set it back") {
  LogClock clock(kSlotMs);
  clock.saw(1'000'000, 50);
  CHECK(clock.now_ms(50) == 1'000'000);
  CHECK(clock.now_ms(1'050) == 1'001'000);
  clock.saw(1'000'500, 1'050);
  CHECK(clock.now_ms(1'050) == 1'001'000);
  clock.saw(1'002'000, 1'050);
  CHECK(clock.now_ms(1'150) == 1'002'100);
}

TEST_CASE("log clock: at the end of the log the wall clock counts once, and ends the filling hour at most") {
  LogClock clock(kSlotMs);
  clock.saw(1'000'000, 0);
  const int64_t ahead = GENERATE(0, 100);  // Slots.
  const int64_t ahead_ms = ahead * kSlotMs;
  SECTION("one that is right shows that the records were old") {
    clock.reached_end(HourIndex(ahead), 1'300'000, 10);
    CHECK(clock.now_ms(10) == ahead_ms + 1'300'000);
  }
  SECTION("one that is ahead") {
    clock.reached_end(HourIndex(ahead), 900'000'000, 10);
    CHECK(clock.now_ms(10) == ahead_ms + 3'600'000);
    clock.reached_end(HourIndex(ahead + 1), 900'000'000, 20);
    CHECK(clock.now_ms(20) == ahead_ms + 3'600'010);
  }
  SECTION("one that is behind") {
    clock.reached_end(HourIndex(ahead), 5, 10);
    CHECK(clock.now_ms(10) == ahead_ms + 1'000'010);
  }
}

TEST_CASE("log clock: an hour that began up to a slot ahead waits for the log") {
  LogClock clock(kSlotMs);
  clock.saw(10'000, 0);
  clock.reached_end(HourIndex(1), 0, 0);
  CHECK(clock.now_ms(500) == 10'500);
  CHECK(hour(clock, kSlotMs) == 1);
  CHECK(hour(clock, 2 * kSlotMs) == 2);
}

TEST_CASE("log clock: an hour further ahead ends with the hour of the log in which it began, like those after it") {
  LogClock clock(kSlotMs);
  clock.saw(10'000, 0);
  const int64_t slots = GENERATE(2, 3, 100);
  for (int64_t i = 0; i < 5; ++i) {
    clock.reached_end(HourIndex(slots + i), 0, i * kSlotMs);
    CHECK(hour(clock, i * kSlotMs) == slots + i);
    CHECK(hour(clock, (i + 1) * kSlotMs - 10'001) == slots + i);
    CHECK(hour(clock, (i + 1) * kSlotMs - 10'000) == slots + i + 1);
  }
}

TEST_CASE("log clock: records that are read again tell that the hour of the log in which an hour began is over") {
  LogClock clock(kSlotMs);
  clock.saw(kSlotMs - 1'000, 0);
  clock.saw(kSlotMs + 1'000, 0);
  clock.reached_end(HourIndex(100), 0, 0);
  CHECK(hour(clock, 0) == 101);
  clock.follow(HourIndex(101), 0);
  CHECK(hour(clock, 0) == 101);
}

TEST_CASE("log clock: while the log is behind the filling hour because it is being read, nothing runs ahead") {
  LogClock clock(kSlotMs);
  for (int64_t passed = 0; passed < 10; ++passed) {
    clock.saw(passed * kSlotMs, passed);
    clock.follow(HourIndex(9), passed);
    CHECK(hour(clock, passed) == passed);
  }
  clock.reached_end(HourIndex(9), 0, 10);
  CHECK(hour(clock, 10) == 9);
  CHECK(hour(clock, 10 + kSlotMs) == 10);
}

TEST_CASE("log clock: one log time ahead counts for minutes, and its hour ends with an hour of the log") {
  const int64_t ahead_ms = GENERATE(kSlotMs * 9 / 10, 100 * kSlotMs);
  LogClock clock(kSlotMs);
  clock.saw(ahead_ms, 0);
  const int64_t filling = ahead_ms / kSlotMs;
  clock.reached_end(HourIndex(filling), 0, 0);
  for (int64_t ms = 1'000; ms < 2 * LogOffset::kHeardMs + 2'000; ms += 1'000) {
    clock.saw(ms, ms);
    clock.follow(HourIndex(filling), ms);
  }
  CHECK(clock.log_ms(700'000) == 700'000);
  CHECK(hour(clock, kSlotMs - 1) == filling);
  CHECK(hour(clock, kSlotMs) == filling + 1);
}

TEST_CASE("log clock: a log time more than a slot ahead counts until the next record comes") {
  LogClock clock(kSlotMs);
  clock.saw(1'000, 0);
  clock.saw(1'000 + 2 * kSlotMs, 0);
  CHECK(clock.log_ms(10) == 1'010 + 2 * kSlotMs);
  clock.saw(1'010, 10);
  CHECK(clock.log_ms(10) == 1'010);
}

TEST_CASE("log clock: the record that is read again after a restart does not set back what was noted") {
  LogClock clock(kSlotMs);
  clock.resume(5 * kSlotMs, 0);
  clock.saw(1'000, 10);
  CHECK(clock.log_ms(10) == 5 * kSlotMs + 10);
}

TEST_CASE("log clock: what an earlier life noted is its time, and not when an hour began") {
  LogClock clock(kSlotMs);
  clock.resume(kSlotMs + 5'000, 0);
  CHECK(clock.log_ms(10) == kSlotMs + 5'010);
  clock.saw(kSlotMs - 1'000, 10);
  clock.reached_end(HourIndex(100), 0, 10);
  CHECK(hour(clock, 10) == 101);
}

}  // namespace bloomring
