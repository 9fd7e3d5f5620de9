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
