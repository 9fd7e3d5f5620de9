// The context that a process gives its stages, on an embedded broker, without a filter store.
#pragma once

#include "pipeline/stages/base/stage_context.h"
#include "pipeline/stages/topology.h"
#include "tests/pipeline/kafka/kafka_world.h"

namespace bloomring::testing {

struct StageWorld {
  explicit StageWorld(const kafka::EmbeddedBroker& broker)
      : kafka(broker.settings()), producer(kafka::testing::must(kafka::Producer::create(kafka))) {
    settings.ring.slot_seconds = 1;
    settings.stages = all_stages(topology());
    plan = kafka::testing::must(plan_memory(settings));
  }
  StageContext context(std::string_view stage = "window") {
    return {*stages_named(topology(), {stage}).front(), settings, plan, kafka, calendar, clock, metrics, health,
            watchdog, start_wait, *producer, stores, nullptr, {}, nullptr};
  }

  Settings settings;
  MemoryPlan plan{{}};
  Calendar calendar = kafka::testing::must(Calendar::create(settings.retention()));
  const SystemClock clock;
  Metrics metrics;
  Health health;
  Watchdog watchdog{clock, 60'000, health, metrics};
  StartWait start_wait{clock, health, 0};
  const FilterStores stores;  // None.
  kafka::ClientSettings kafka;
  std::unique_ptr<kafka::Producer> producer;
};

}  // namespace bloomring::testing
