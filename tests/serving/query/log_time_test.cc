#include "serving/query/log_time.h"

#include <catch2/catch.hpp>

#include "tests/support/serving_world.h"

using namespace bloomring;

TEST_CASE("log time: clocks of replica and merge that are months behind hide nothing of an empty log") {
  ServingWorld world;
  world.play("u1", "v1");
  world.merge();
  world.clock.set_wrong_by_ms(-70 * kDayMs);
  world.watermark.merged_ms = world.clock.now_ms();  // Merge agreed to no more.
  REQUIRE(world.store.advance(kOnly, world.watermark).ok());
  const int64_t hours_end_ms = kStartMs + kHourMs;
  world.partition = std::make_shared<ReplicaPartition>(kOnly, RecentPlaysConfig(), utc_months(), world.watermark.offset,
                                                    ServedItemsConfig(), hours_end_ms);
  world.partition->set_ready();
  world.partition->set_fresh_at_ns(world.clock.steady_ns());
  world.release();
  CHECK(world.ask("u1", {"v1"}).complete());
  CHECK(world.seen("u1", "v1") == "filter 2026-11");
}

TEST_CASE("log time: a steady clock that is fast, or a broker that was ahead, does not carry it ahead for long") {
  LogTime log_time;
  int64_t steady_ms = 0, broker_ms = kStartMs;
  const auto ahead_ms = [&] { return log_time.now_ms(steady_ms * 1'000'000).value() - broker_ms; };
  SECTION("50 ppm fast for 30 days") {
    for (int64_t minute = 0; minute < 30 * 24 * 60; ++minute) {
      broker_ms += 60'000;
      steady_ms += 60'003;
      log_time.saw(broker_ms, steady_ms * 1'000'000);
      REQUIRE(ahead_ms() >= 0);
      REQUIRE(ahead_ms() <= 30);
    }
  }
  SECTION("two minutes ahead, once") {
    log_time.saw(broker_ms + 120'000, steady_ms);
    for (int64_t minute = 0; minute < 10; ++minute) {
      broker_ms += 60'000;
      steady_ms += 60'000;
      log_time.saw(broker_ms, steady_ms * 1'000'000);
    }
    CHECK(ahead_ms() == 0);
  }
  SECTION("what was logged long ago and is read now does not set it back") {
    for (int64_t second = 0; second < 100; ++second) {
      log_time.saw(second == 0 ? broker_ms : broker_ms - 3'600'000, steady_ms * 1'000'000);
      CHECK(ahead_ms() == 0);
      broker_ms += 1'000;
      steady_ms += 1'000;
    }
  }
}
