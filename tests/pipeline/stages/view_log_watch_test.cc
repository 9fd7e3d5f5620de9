#include "pipeline/stages/view_log_watch.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/stages/stage_world.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::eventually;
using kafka::testing::must;
using kafka::testing::write_numbers;

const PartitionId kZero(0), kOne(1);

}  // namespace

TEST_CASE("view log watch: a partition without a leader makes no other one's answer an old one") {
  const auto broker = broker_with({{"user-batches", 2}});
  testing::StageWorld world(*broker);
  write_numbers(*world.producer, "user-batches", 0, 0, 7);
  ViewLogWatch watch(world.context(), filter_view_row());
  for (const PartitionId partition : {kZero, kOne}) watch.add(partition);
  REQUIRE(eventually([&] { return watch.of(kZero).end == Offset(7) && watch.of(kOne).end == Offset(0); }));
  broker->move_leader("user-batches", 1, -1);
  write_numbers(*world.producer, "user-batches", 0, 7, 2);
  CHECK(eventually([&] { return watch.of(kZero).end == Offset(9); }));
  CHECK(watch.of(kZero).expected);
  CHECK(eventually([&] { return !watch.of(kOne).expected; }));
  CHECK(watch.of(kOne).end == Offset(0));
}

}  // namespace bloomring
