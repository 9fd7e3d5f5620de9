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

constexpr int64_t kHourMs = 3'600'000;

// A clock at the end of its log at steady time 0, after a record of log time `log_ms`.
LogClock at_end_after(int64_t log_ms) {
  LogClock clock(0, kHourMs);
  clock.saw(log_ms, 0);
  clock.reached_end(log_ms, log_ms, 0);
  return clock;
}

TEST_CASE("log clock: up to two slots ahead it runs at half pace until the log has caught up") {
  LogClock clock = at_end_after(kHourMs);
  const int64_t lead_ms = GENERATE(kHourMs / 2, kHourMs, 2 * kHourMs - LogClock::kSlackMs);
  clock.saw(kHourMs + lead_ms, 0);
  clock.reached_end(0, 0, 0);
  CHECK(clock.now_ms(0) == kHourMs + lead_ms);
  int64_t now_ms = 0;
  // A record every seven milliseconds, and the log's end after each: half pace is exact however often it is computed.
  int64_t steady_ms = 0;
  for (; steady_ms < 2 * lead_ms; steady_ms += 7) {
    clock.saw(kHourMs + steady_ms, steady_ms);
    clock.reached_end(0, 0, steady_ms);
    REQUIRE(clock.now_ms(steady_ms) >= now_ms);
    now_ms = clock.now_ms(steady_ms);
    REQUIRE(now_ms >= kHourMs + steady_ms);
  }
  CHECK(now_ms - (kHourMs + steady_ms) <= LogClock::kSlackMs + 7);
}

TEST_CASE("log clock: it is never ahead of a quiet log for longer than one whose records go on") {
  LogClock clock = at_end_after(kHourMs);
  clock.saw(2 * kHourMs, 0);
  clock.reached_end(0, 0, 0);
  clock.saw(kHourMs, 0);
  for (int64_t steady_ms = 0; steady_ms <= 3 * kHourMs; steady_ms += 1'001) clock.reached_end(0, 0, steady_ms);
  CHECK(clock.now_ms(3 * kHourMs) == 4 * kHourMs + LogClock::kSlackMs);
}

TEST_CASE("log clock: an hour that began two slots ahead, after two losses, waits for the log at half pace") {
  LogClock clock(3 * kHourMs, kHourMs);
  clock.saw(kHourMs + 1, 0);
  clock.reached_end(0, 0, 0);
  CHECK(clock.now_ms(0) == 3 * kHourMs);
  clock.saw(kHourMs + 2, 1);
  CHECK(clock.now_ms(kHourMs + 1) == 3 * kHourMs + kHourMs / 2 + 1);
  CHECK(clock.now_ms(10 * kHourMs) == 11 * kHourMs + LogClock::kSlackMs + 2);
}

TEST_CASE("log clock: more than two slots ahead it goes on at the pace of the steady clock") {
  LogClock clock = at_end_after(kHourMs);
  clock.saw(100 * kHourMs, 0);
  clock.reached_end(0, 0, 0);
  clock.saw(kHourMs + 10, 10);
  clock.saw(kHourMs + 500, 500);
  CHECK(clock.now_ms(kHourMs) == 101 * kHourMs);
}

TEST_CASE("log clock: records that are read late do not slow it down") {
  LogClock clock = at_end_after(kHourMs);
  // Nothing was read for two hours; then the log's records of these hours, and its end.
  for (int64_t log_ms = 0; log_ms <= 2 * kHourMs; log_ms += kHourMs / 8) {
    clock.saw(kHourMs + log_ms, 2 * kHourMs);
    CHECK(clock.now_ms(2 * kHourMs) == 3 * kHourMs);
  }
  CHECK(clock.now_ms(3 * kHourMs) == 4 * kHourMs);
}

TEST_CASE("log clock: before the end of the log was reached, an old record shows nothing of the log's time") {
  LogClock clock(0, kHourMs);
  clock.saw(2 * kHourMs, 0);
  clock.saw(kHourMs, 0);
  CHECK(clock.now_ms(kHourMs) == 3 * kHourMs);
}

}  // namespace bloomring
