#include "operators/ingest_clock.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr int64_t kBrokerMs = 1'795'000'000'000;
constexpr int64_t kMonthMs = 30LL * 86'400'000;
constexpr int64_t kMaxMs = 60'000;

// A machine whose wall clock is `off_ms` ahead of the brokers'; its steady clock starts at 0.
struct Machine {
  int64_t off_ms = 0;
  int64_t passed_ms = 0;
  IngestClock clock{kMaxMs};

  int64_t wall_ms() const { return kBrokerMs + passed_ms + off_ms; }
  int64_t now_ms() const { return now().earliest_ms; }
  IngestTime now() const { return clock.now(wall_ms(), passed_ms); }
  // Sent `way_ms` ago, stamped `way_ms - late_ms` after it was sent.
  void hear(int64_t way_ms = 10, int64_t late_ms = 0) {
    clock.acknowledged(kBrokerMs + passed_ms - late_ms, passed_ms - way_ms, wall_ms(), passed_ms);
  }
};

}  // namespace

TEST_CASE("ingest clock: nothing is judged before the brokers have told their time") {
  Machine machine;
  CHECK_FALSE(machine.clock.may_judge());
  machine.hear();
  CHECK(machine.clock.state() == IngestClock::State::kGood);
  machine.clock.doubt();
  CHECK_FALSE(machine.clock.may_judge());
}

TEST_CASE("ingest clock: one that differs by more than the bound is off, in either direction and by any length") {
  const int64_t off_ms = GENERATE(-kMonthMs, -600'000, -61'000, 61'000, 3'600'000, 8 * kMonthMs);
  Machine machine{off_ms};
  machine.hear();
  CHECK(machine.clock.state() == IngestClock::State::kOff);
  CHECK_FALSE(machine.clock.may_judge());
  CHECK(*machine.clock.offset_ms() == off_ms);
}

TEST_CASE("ingest clock: within the bound the brokers' time is what counts") {
  const int64_t off_ms = GENERATE(-59'000, -500, 0, 500, 59'000);
  Machine machine{off_ms};
  machine.hear();
  CHECK(machine.clock.may_judge());
  CHECK(machine.now_ms() == kBrokerMs);
  machine.passed_ms = 5'000;
  CHECK(machine.now_ms() == kBrokerMs + 5'000);
}

TEST_CASE("ingest clock: a wall clock that jumps changes no time, and is off with the next acknowledgement") {
  const int64_t jump_ms = GENERATE(-8 * kMonthMs, -600'000, 600'000, 8 * kMonthMs);
  Machine machine;
  machine.hear();
  machine.passed_ms = 1'000;
  machine.off_ms = jump_ms;
  CHECK(machine.now_ms() == kBrokerMs + 1'000);
  machine.hear();
  CHECK(machine.clock.state() == IngestClock::State::kOff);
}

TEST_CASE("ingest clock: an acknowledgement that is late, or heard late, says nothing against the clock") {
  Machine machine;
  machine.hear();
  machine.passed_ms = 300'000;
  machine.hear(/*way_ms=*/200'000);  // The brokers were away.
  CHECK(machine.clock.state() == IngestClock::State::kGood);
  machine.hear(/*way_ms=*/200'000, /*late_ms=*/199'990);  // This process stood still after it was stamped.
  CHECK(machine.clock.state() == IngestClock::State::kGood);
  CHECK(machine.now_ms() == kBrokerMs + 300'000);
}

TEST_CASE("ingest clock: an acknowledgement that was on its way for long does not tell what time it is") {
  Machine machine;
  machine.passed_ms = kMonthMs;
  machine.hear(/*way_ms=*/kMonthMs, /*late_ms=*/kMonthMs - 10);  // This process stood still.
  CHECK_FALSE(machine.clock.may_judge());
  machine.hear();
  CHECK(machine.clock.state() == IngestClock::State::kGood);
  CHECK(machine.now_ms() == kBrokerMs + kMonthMs);
}

TEST_CASE("ingest clock: acknowledgements whose way takes longer than the bound tell no time, however many come") {
  Machine machine;
  for (int64_t i = 0; i < 10; ++i) {
    machine.passed_ms += kMaxMs + 1;
    machine.hear(/*way_ms=*/kMaxMs + 1);
    CHECK_FALSE(machine.clock.may_judge());
  }
}

TEST_CASE("ingest clock: it is good again once acknowledgements have agreed for a while") {
  Machine machine{600'000};
  machine.hear();
  machine.off_ms = 0;
  machine.passed_ms = 1'000;
  machine.hear();
  CHECK(machine.clock.state() == IngestClock::State::kOff);  // Another broker may differ.
  machine.passed_ms = IngestClock::kCalmMs;
  machine.hear();
  CHECK(machine.clock.state() == IngestClock::State::kGood);
  CHECK(machine.now_ms() == kBrokerMs + machine.passed_ms);
}

TEST_CASE("ingest clock: where brokers do not stamp, this machine's clock is all there is") {
  Machine machine{600'000};
  machine.clock.acknowledged_unstamped();
  CHECK(machine.clock.state() == IngestClock::State::kAlone);
  CHECK(machine.now_ms() == kBrokerMs + 600'000);
}

TEST_CASE("ingest clock: a steady clock that is fast for weeks does not run ahead of the brokers'") {
  constexpr int64_t kPassedMs = kMonthMs;
  constexpr int64_t kHourMs = 3'600'000;
  constexpr int64_t kFastPerMillion = 100;
  IngestClock clock(kMaxMs);
  for (int64_t passed_ms = 0; passed_ms <= kPassedMs; passed_ms += kHourMs) {
    const int64_t steady_ms = passed_ms + passed_ms / 1'000'000 * kFastPerMillion;
    const int64_t wall_ms = kBrokerMs + passed_ms;  // Which is set right again and again.
    clock.acknowledged(kBrokerMs + passed_ms, steady_ms - 10, wall_ms, steady_ms);
    REQUIRE(clock.may_judge());
    REQUIRE(clock.now(wall_ms, steady_ms).earliest_ms >= kBrokerMs + passed_ms);
    REQUIRE(clock.now(wall_ms, steady_ms).earliest_ms <= kBrokerMs + passed_ms + 10 + IngestClock::kBrokersDifferMs);
  }
}

TEST_CASE("ingest clock: an acknowledgement that took seconds begins nothing while a better one may come") {
  Machine machine;
  machine.passed_ms = 10'000;
  machine.hear(/*way_ms=*/10'000, /*late_ms=*/10'000);  // This process stood still after it was stamped.
  CHECK_FALSE(machine.clock.may_judge());
  machine.passed_ms = 10'100;
  machine.hear();
  CHECK(machine.clock.may_judge());
  CHECK(machine.now_ms() == kBrokerMs + 10'100);
}

TEST_CASE("ingest clock: while every acknowledgement takes seconds the brokers' time is between the two bounds") {
  constexpr int64_t kWayMs = 10'000;
  const int64_t late_ms = GENERATE(as<int64_t>{}, 0, 3'000, 10'000);
  Machine machine;
  for (int64_t passed_ms = kWayMs; passed_ms <= kWayMs + IngestClock::kPatienceMs; passed_ms += 1'000) {
    CHECK_FALSE(machine.clock.may_judge());
    machine.passed_ms = passed_ms;
    machine.hear(kWayMs, late_ms);
  }
  REQUIRE(machine.clock.may_judge());
  CHECK(machine.now().earliest_ms == kBrokerMs + machine.passed_ms - late_ms);
  CHECK(machine.now().latest_ms == kBrokerMs + machine.passed_ms - late_ms + kWayMs);
  machine.hear();
  CHECK(machine.now().earliest_ms <= kBrokerMs + machine.passed_ms + IngestClock::kBrokersDifferMs);
  CHECK(machine.now().earliest_ms >= kBrokerMs + machine.passed_ms - 10);
  CHECK(machine.now().latest_ms >= kBrokerMs + machine.passed_ms);
  CHECK(machine.now().latest_ms <= kBrokerMs + machine.passed_ms + 10);
}
