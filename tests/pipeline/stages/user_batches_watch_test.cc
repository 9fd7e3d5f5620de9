#include "pipeline/stages/user_batches_watch.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/kafka/kafka_world.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::eventually;
using kafka::testing::must;
using kafka::testing::write_numbers;

const PartitionId kZero(0), kOne(1);

// What a stage is given by its process, as far as the watch uses it.
struct World {
  explicit World(const kafka::EmbeddedBroker& broker)
      : kafka(broker.settings()), producer(must(kafka::Producer::create(kafka))) {
    settings.ring.slot_seconds = 1;
  }
  StageContext context() {
    return {settings, plan, kafka, calendar, clock, metrics, health, watchdog, start_wait,
            *producer, nullptr, nullptr, {}, nullptr};
  }

  Settings settings;
  MemoryPlan plan = must(plan_memory(settings));
  Calendar calendar = must(Calendar::create(settings.retention()));
  const SystemClock clock;
  Metrics metrics;
  Health health;
  Watchdog watchdog{clock, 60'000, health, metrics};
  StartWait start_wait{clock, health, 0};
  kafka::ClientSettings kafka;
  std::unique_ptr<kafka::Producer> producer;
};

}  // namespace

TEST_CASE("user batches watch: a partition without a leader makes no other one's answer an old one") {
  const auto broker = broker_with({{"user-batches", 2}});
  World world(*broker);
  write_numbers(*world.producer, "user-batches", 0, 0, 7);
  UserBatchesWatch watch(world.context());
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
