#include "pipeline/window_stage.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "operators/window_start.h"
#include "pipeline/settings.h"

namespace bloomring {

namespace {

std::string store_path(const Settings& settings, PartitionId partition) {
  return settings.state.path + "/window-" + std::to_string(partition.value);
}

WindowTaskConfig task_config(const Settings& settings, const MemoryPlan& plan, PartitionId partition) {
  WindowTaskConfig config;
  config.window.partition = partition;
  config.window.partition_count = settings.topics.partitions;
  config.window.ring = {settings.ring.slots, settings.ring.slot_ms()};
  config.window.drain.pass_bytes_max = plan.drain_pass_bytes(settings);
  config.window.drain_spread = settings.ring.drain_spread;
  config.events_topic = settings.topics.user_events;
  config.batches_topic = settings.topics.user_batches;
  config.dead_topic = settings.topics.dead;
  config.flush_interval_ms = int64_t{settings.state.flush_seconds} * 1000;
  return config;
}

// Records that are not merged and that the log does not have any more.
int64_t custody_gap(const WindowTask& task) {
  const Offset log_start = task.source().log_start();
  const Offset unmerged_from = task.window().ring().unmerged_from();
  return std::max<int64_t>(0, std::min(log_start, task.window().ring().applied()).value - unmerged_from.value);
}

}  // namespace

WindowStage::WindowStage(const StageContext& stage_context)
    : PartitionStage(stage_context, "window", stage_context.settings.topics.user_events,
                     stage_context.settings.threads.window, MemoryUse::kWindowQueue),
      ring_config_{stage_context.settings.ring.slots, stage_context.settings.ring.slot_ms()},
      levels_(stage_context.metrics, "window"),
      catch_up_("window", stage_context.clock, stage_context.metrics),
      batches_(stage_context),
      registration_(stage_context.metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

Result<PartitionStage::Made> WindowStage::make(PartitionId partition, const kafka::PartitionFacts& facts,
                                               std::unique_ptr<Source> source) {
  const Settings& settings = context().settings;
  RocksWindowStoreConfig store_config;
  store_config.path = store_path(settings, partition);
  store_config.partition_count = settings.topics.partitions;
  BLOOMRING_TRY_ASSIGN(std::unique_ptr<WindowStore> store, open_store(store_config));
  Offset read_from;
  BLOOMRING_TRY_ASSIGN(Ring ring, start_ring(*store, partition, facts, read_from));
  auto task =
      std::make_unique<WindowTask>(task_config(settings, context().plan, partition), context().clock, std::move(store),
                                   std::move(ring), *context().filters, std::move(source), make_sink(), &batches_);
  batches_.add(partition);
  catch_up_.begin(partition, read_from, facts.log_end);
  return Made{std::move(task), read_from};
}

// Local state that cannot be read is thrown away: the log has everything.
Result<std::unique_ptr<WindowStore>> WindowStage::open_store(const RocksWindowStoreConfig& config) {
  auto opened = RocksWindowStore::open(config, *context().memory);
  if (opened.code() == Code::kCorrupt) {
    spdlog::warn("window: {} cannot be read and is made anew: {}", config.path, opened.status().message());
    BLOOMRING_TRY(RocksWindowStore::wipe(config.path));
    opened = RocksWindowStore::open(config, *context().memory);
  }
  BLOOMRING_TRY(opened.status());
  return std::unique_ptr<WindowStore>(std::move(*opened));
}

Result<Ring> WindowStage::start_ring(WindowStore& store, PartitionId partition, const kafka::PartitionFacts& facts,
                                     Offset& read_from) {
  WindowStartFacts start_facts;
  start_facts.log_start = facts.log_start;
  start_facts.log_end = facts.log_end;
  start_facts.slot_ms = ring_config_.slot_ms;
  start_facts.accept_lost_events = context().settings.state.accept_lost_events;
  BLOOMRING_TRY(context().filters->refresh());
  BLOOMRING_TRY_ASSIGN(start_facts.watermark, context().filters->read_watermark(partition));
  BLOOMRING_TRY_ASSIGN(start_facts.local, store.load());
  BLOOMRING_TRY_ASSIGN(const WindowStart start, decide_window_start(start_facts));
  spdlog::info("window {}[{}]: {}; the log holds [{}, {})", topic(), partition.value, start.reason,
               facts.log_start.value, facts.log_end.value);
  read_from = start.read_from;
  if (start.resume && !start_facts.local->hours.empty()) return Ring::restore(ring_config_, *start_facts.local);
  BLOOMRING_TRY(store.clear());
  return Ring(ring_config_, start.resume ? start_facts.local->applied : start.base, start.first_hour);
}

void WindowStage::report(PartitionId partition, PartitionTask& any) {
  const auto& task = static_cast<const WindowTask&>(any);
  const Ring& ring = task.window().ring();
  Reported now{task.window().stats(), task.dead_letters(), {}, task.merged(), -1, 0, 0};
  for (const Ring::SlotView& slot : ring.slots()) {
    now.slots.push_back(slot.state);
    const bool unmerged = slot.state == SlotState::kSealed || slot.state == SlotState::kDraining;
    if (!unmerged) continue;
    const int64_t began_ms = slot.hours.front().hour.value * ring_config_.slot_ms;
    if (now.oldest_unmerged_ms < 0 || began_ms < now.oldest_unmerged_ms) now.oldest_unmerged_ms = began_ms;
  }
  catch_up_.note(partition, task.position(), now.stats.events);
  catch_up_.tell();
  now.custody_gap = custody_gap(task);
  now.filling_age_ms = task.filling_age_ms();
  levels_.set(topic(), partition, {task.position(), task.committed(), task.source().log_end()});
  const std::lock_guard lock(mutex_);
  warn_of_gap(partition, reported_[partition].custody_gap, now.custody_gap);
  count(reported_[partition], now);
  reported_[partition] = now;
}

void WindowStage::warn_of_gap(PartitionId partition, int64_t before, int64_t now) {
  if (now <= before || before > 0) return;
  spdlog::error(
      "window {}[{}]: {} records that are not merged were removed from the log by its retention; they exist only in "
      "{} until they are merged. Lengthen the topic's retention",
      topic(), partition.value, now, store_path(context().settings, partition));
}

void WindowStage::count(const Reported& before, const Reported& now) {
  Metrics& metrics = context().metrics;
  metrics.counter(metric::kWindowRecords).add(now.stats.blocks - before.stats.blocks);
  metrics.counter(metric::kWindowEvents).add(now.stats.events - before.stats.events);
  metrics.counter(metric::kDeadLetters, {"window", "bad_block"}).add(now.dead_letters - before.dead_letters);
  constexpr std::string_view kAttempts[] = {"", "first", "second", "lap"};
  for (size_t attempt = 1; attempt < 4; ++attempt) {
    metrics.counter(metric::kDrains, {kAttempts[attempt]})
        .add(now.stats.drains[attempt] - before.stats.drains[attempt]);
  }
  metrics.counter(metric::kDrainsAbandoned).add(now.stats.drains_abandoned - before.stats.drains_abandoned);
  metrics.counter(metric::kBatches).add(now.stats.batches - before.stats.batches);
  metrics.counter(metric::kBatchPlays).add(now.stats.batch_plays - before.stats.batch_plays);
}

void WindowStage::forget(PartitionId partition) {
  levels_.forget(topic(), partition);
  catch_up_.forget(partition);
  batches_.remove(partition);
  const std::lock_guard lock(mutex_);
  reported_.erase(partition);
}

void WindowStage::write(Scrape& scrape) {
  const std::lock_guard lock(mutex_);
  std::array<double, kSlotStateCount> slots{};
  for (const auto& [partition, reported] : reported_) {
    const std::string label = std::to_string(partition.value);
    scrape.write(metric::kFillingAge, {label}, static_cast<double>(reported.filling_age_ms) / 1000.0);
    scrape.write(metric::kCustodyGap, {label}, static_cast<double>(reported.custody_gap));
    for (size_t slot = 0; slot < reported.slots.size(); ++slot) {
      const SlotState state = reported.slots[slot];
      ++slots[static_cast<size_t>(state)];
      scrape.write(metric::kSlotState, {label, std::to_string(slot), slot_state_name(state)}, 1);
    }
    if (reported.merged.value >= 0)
      scrape.write(metric::kMergedOffset, {label}, static_cast<double>(reported.merged.value));
    if (reported.oldest_unmerged_ms >= 0) {
      scrape.write(metric::kOldestUnmerged, {label}, static_cast<double>(reported.oldest_unmerged_ms) / 1000.0);
    }
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    scrape.write(metric::kSlots, {slot_state_name(static_cast<SlotState>(i))}, slots[i]);
  }
}

}  // namespace bloomring
