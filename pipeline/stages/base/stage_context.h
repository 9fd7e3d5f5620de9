// The parts of a process that every stage uses. All references outlive the stages.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/kafka/settings.h"
#include "pipeline/metrics/log_watch.h"
#include "pipeline/metrics/partition_levels.h"
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/lease.h"
#include "pipeline/runtime/start_wait.h"
#include "pipeline/runtime/watchdog.h"
#include "pipeline/settings/memory_plan.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stores/open_stores.h"
#include "state/period.h"
#include "state/rocksdb/state_memory.h"

namespace bloomring {

struct StageContext {
  const StageRow& row;  // Of the stage that gets this context: its name, and what it may read, write and watch.
  const Settings& settings;
  const MemoryPlan& plan;
  const kafka::ClientSettings& kafka;  // Without group.
  const Calendar& calendar;
  const Clock& clock;
  Metrics& metrics;
  Health& health;
  Watchdog& watchdog;
  StartWait& start_wait;  // For waits before a stage can start.
  kafka::Producer& producer;
  const FilterStores& stores;  // Open in the role that the stages of this process need.
  const StateMemory* memory = nullptr;
  // A stage cannot go on: the process logs it and ends with exit code 1, or 2 for kInvalid. Thread safe.
  std::function<void(std::string_view stage, const Status&)> on_failure;
  LogWatch* log_watch = nullptr;  // Reports the ends of logs, for metrics.

  std::string stage() const { return std::string(row.name); }
};

// For the levels of a stage that gets the ends of its logs from the watch.
inline PartitionLevels::Config levels_config(const StageContext& context) {
  return {context.stage(), context.settings.metrics.per_partition, context.log_watch};
}

// The client settings of a stage's member of its consumer group, which its row must say, because the rights at the
// brokers follow from the row. `queue` names the memory for its queues.
inline kafka::ClientSettings group_settings(const StageContext& context, MemoryUse queue) {
  BLOOMRING_CHECK(context.row.in_group, "the row of a stage that joins a group says in_group");
  kafka::ClientSettings settings = context.kafka;
  settings.group = context.settings.kafka.group(context.row.name);
  settings.instance_id = context.settings.instance + "-" + context.stage();
  settings.queue_memory_bytes = context.plan.of(queue, context.row.name);
  settings.queue_partitions_max = context.settings.memory.partitions;
  return settings;
}

}  // namespace bloomring
