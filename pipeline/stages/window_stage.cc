#include "pipeline/stages/window_stage.h"

#include <algorithm>

#include "base/log.h"
#include "operators/window_start.h"
#include "pipeline/settings/settings.h"
#include "pipeline/settings/window_folder.h"

namespace bloomring {

namespace {

WindowConfig window_config(const Settings& settings, PartitionId partition) {
  WindowConfig config;
  config.partition = partition;
  config.partition_count = settings.topics.partitions;
  config.ring = {settings.ring.slots, settings.ring.slot_ms()};
  config.drain_spread = settings.ring.drain_spread;
  return config;
}

WindowTaskConfig task_config(const StageContext& context, PartitionId partition) {
  const Settings& settings = context.settings;
  WindowTaskConfig config;
  config.stage = context.stage();
  config.window = window_config(settings, partition);
  config.events_topic = settings.topics.name(TopicRole::kUserEvents);
  config.dead_topic = settings.topics.name(TopicRole::kDeadLetters);
  config.flush_interval_ms = int64_t{settings.state.flush_seconds} * 1000;
  return config;
}

// `away` where the store cannot be reached.
Result<ViewWatermark> read_watermark(WatermarkReader& reader, PartitionId partition) {
  const Status refreshed = reader.refresh();
  if (refreshed.code() == Code::kRetry) return ViewWatermark{.view = {}, .watermark = {}, .away = true};
  BLOOMRING_TRY(Status(refreshed));
  auto read = reader.read_watermark(partition);
  if (read.code() == Code::kRetry) return ViewWatermark{.view = {}, .watermark = {}, .away = true};
  BLOOMRING_TRY(read.status());
  return ViewWatermark{.view = {}, .watermark = *read};
}

// Records that are not merged and that the log no longer has.
int64_t custody_gap_records(const WindowTask& task) {
  const Offset log_start = task.source().log_start();
  const Offset unmerged_from = task.window().ring().unmerged_from();
  return std::max<int64_t>(0, std::min(log_start, task.window().ring().applied()).value - unmerged_from.value);
}

}  // namespace

WindowStage::WindowStage(const StageContext& stage_context, ViewRows rows)
    : PartitionStage(stage_context, {"opens the local state", MemoryUse::kWindowQueue},
                     stage_context.settings.topics.name(TopicRole::kUserEvents), stage_context.settings.threads.window),
      totals_(stage_context.metrics, window_series()),
      levels_(stage_context.metrics, stage_context.clock, levels_config(stage_context)),
      catch_up_(stage_context.stage(), stage_context.clock, stage_context.metrics),
      registration_(stage_context.metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {
  for (const ViewRow& row : rows) views_.push_back({row, std::make_unique<ViewLogWatch>(context(), row)});
}

void WindowStage::claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims) {
  // Of each window store that is open: its write buffer's arena, table readers, the log of the last write.
  constexpr uint64_t kStoreLeast = 1 * kMiB;
  constexpr uint64_t kPassLeast = 1 * kMiB, kPassMost = 64 * kMiB;
  claims.push_back(queue_claim(MemoryUse::kWindowQueue, "window queue", counts.pipeline, 2));
  claims.push_back({MemoryUse::kStores, "stores", counts.pipeline * kStoreLeast});
  const uint64_t passes = drains_at_once(settings);
  claims.push_back({MemoryUse::kDrains, "drains", passes * kPassLeast, 1, passes * kPassMost});
}

Result<PartitionStage::PartitionWork> WindowStage::make(PartitionId partition, const kafka::PartitionFacts& facts,
                                                        std::unique_ptr<Source> source) {
  const Settings& settings = context().settings;
  RocksWindowStoreConfig store_config;
  store_config.path = window_folder(settings, partition);
  store_config.partition_count = settings.topics.partitions;
  BLOOMRING_TRY_ASSIGN(std::unique_ptr<WindowStore> store, open_store(store_config));
  Offset read_from;
  BLOOMRING_TRY_ASSIGN(Window window, start_window(*store, partition, facts, read_from));
  auto task = std::make_unique<WindowTask>(task_config(context(), partition), context().clock, std::move(store),
                                           std::move(window), view_logs(), std::move(source), make_sink());
  for (const WatchedView& view : views_) view.watch->add(partition);
  catch_up_.begin(partition, read_from, facts.log_end);
  return PartitionWork{std::move(task), read_from};
}

// Deletes local state that cannot be read: the log has everything.
Result<std::unique_ptr<WindowStore>> WindowStage::open_store(const RocksWindowStoreConfig& config) {
  auto opened = RocksWindowStore::open(config, *context().memory);
  if (opened.code() == Code::kCorrupt) {
    log_warning("window: local state cannot be read and is made again",
                {{"stage", context().row.name},
                 {"path", config.path},
                 {"code", code_name(opened.code())},
                 {"reason", opened.status().message()}});
    BLOOMRING_TRY(RocksWindowStore::wipe(config.path));
    opened = RocksWindowStore::open(config, *context().memory);
  }
  BLOOMRING_TRY(opened.status());
  return std::unique_ptr<WindowStore>(std::move(*opened));
}

std::vector<ViewLog> WindowStage::view_logs() const {
  std::vector<ViewLog> logs;
  for (const WatchedView& view : views_) {
    const std::string& batches = context().settings.topics.name(view.row.batches);
    logs.push_back({batches, &view.row.watermarks(context()), view.watch.get()});
  }
  return logs;
}

Result<Window> WindowStage::start_window(WindowStore& store, PartitionId partition, const kafka::PartitionFacts& facts,
                                         Offset& read_from) {
  const WindowConfig config = window_config(context().settings, partition);
  WindowStartFacts start_facts;
  start_facts.log_start = facts.log_start;
  start_facts.log_end = facts.log_end;
  start_facts.slot_ms = config.ring.slot_ms;
  start_facts.accept_lost_events = context().settings.state.accept_lost_events;
  BLOOMRING_TRY_ASSIGN(start_facts.local, store.load());
  Views views;
  std::vector<ViewWatermark> watermarks;
  for (const WatchedView& view : views_) {
    BLOOMRING_TRY_ASSIGN(ViewWatermark watermark, read_watermark(view.row.watermarks(context()), partition));
    watermark.view = view.row.name;
    watermarks.push_back(watermark);
    views.push_back(view.row.view(context(), partition));
  }
  BLOOMRING_TRY_ASSIGN(const WindowStart start, decide_window_start(start_facts, watermarks));
  log_line(start.lost ? LogLevel::kWarning : LogLevel::kDebug, "window: begins: " + start.reason,
           {{"stage", context().row.name},
            {"topic", topic()},
            {"partition", partition.value},
            {"offset", start.read_from.value},
            {"log_start", facts.log_start.value},
            {"log_end", facts.log_end.value}});
  read_from = start.read_from;
  return Window::open(config, store, std::move(views), start, start_facts.local);
}

void WindowStage::report(PartitionId partition, PartitionTask& any) {
  const auto& task = static_cast<const WindowTask&>(any);
  const Ring& ring = task.window().ring();
  WindowCounts counts{task.window().stats()};
  counts.dead_letters = task.dead_letters();
  counts.slots_joined = ring.laps();
  catch_up_.note(partition, task.position(), counts.events);
  catch_up_.text();
  levels_.set(topic(), partition, {task.position(), task.committed(), task.source().log_end()});
  const std::optional<Offset> merged = task.merged().value < 0 ? std::nullopt : std::optional(task.merged());
  const int64_t custody_gap = custody_gap_records(task);
  const std::lock_guard lock(mutex_);
  const auto [at, first] = reported_.try_emplace(partition);
  Reported& reported = at->second;
  if (first) reported.counted = totals_.share();
  warn_of_custody_gap(partition, reported.custody_gap_records, custody_gap);
  reported.counted.set(counts);
  reported.ring = ring_status(ring, merged);
  reported.filling_age_ms = task.filling_age_ms();
  reported.custody_gap_records = custody_gap;
  reported.drain_events_max = task.window().drain_events_max();
}

void WindowStage::warn_of_custody_gap(PartitionId partition, int64_t before, int64_t now) {
  if (now <= before || before > 0) return;
  log_error("window: " + std::to_string(now) +
                " records that are not merged were removed from the log by its retention; they exist only in " +
                window_folder(context().settings, partition) +
                " until they are merged. Lengthen the topic's retention",
            {{"stage", context().row.name}, {"topic", topic()}, {"partition", partition.value}});
}

void WindowStage::untrack(PartitionId partition, bool lost) {
  levels_.remove(topic(), partition, lost);
  catch_up_.remove(partition);
  for (const WatchedView& view : views_) view.watch->remove(partition);
  const std::lock_guard lock(mutex_);
  reported_.erase(partition);
}

StageStatus WindowStage::status() const {
  StageStatus status{.stage = context().stage(), .partitions = levels_.status()};
  const std::lock_guard lock(mutex_);
  for (PartitionStatus& partition : status.partitions) {
    const auto found = reported_.find(partition.at.partition);
    if (found != reported_.end()) partition.ring = found->second.ring;
  }
  return status;
}

void WindowStage::write(Scrape& scrape) {
  const std::lock_guard lock(mutex_);
  std::array<double, kSlotStateCount> slots{};
  size_t drain_events_max = 0;
  PartitionSeries series(scrape, context().settings.metrics.per_partition);
  for (const auto& [partition, reported] : reported_) {
    series.write(metric::kFillingAge, partition, static_cast<double>(reported.filling_age_ms) / 1000.0, Fold::kMax);
    series.write(metric::kCustodyGap, partition, static_cast<double>(reported.custody_gap_records), Fold::kSum);
    drain_events_max = std::max(drain_events_max, reported.drain_events_max);
    write_unread(series, partition);
    for (const SlotStatus& slot : reported.ring.slots) ++slots[static_cast<size_t>(slot.state)];
    write_ring(series, partition, reported.ring);
  }
  scrape.write(metric::kDrainEvents, {}, static_cast<double>(drain_events_max));
  for (size_t i = 0; i < slots.size(); ++i) {
    scrape.write(metric::kSlots, {slot_state_name(static_cast<SlotState>(i))}, slots[i]);
  }
}

// Of all views together.
void WindowStage::write_unread(PartitionSeries& series, PartitionId partition) const {
  std::optional<int64_t> records;
  for (const WatchedView& view : views_) {
    const BatchesLog log = view.watch->of(partition);
    if (log.merge_from.value >= 0) records = records.value_or(0) + log.end.value - log.merge_from.value;
  }
  if (records) series.write(metric::kUnreadBatches, partition, static_cast<double>(*records), Fold::kSum);
}

void WindowStage::write_ring(PartitionSeries& series, PartitionId partition, const RingStatus& ring) {
  if (ring.merged) {
    series.write(metric::kMergedOffset, partition, static_cast<double>(ring.merged->value), Fold::kSum);
  }
  if (const auto began_ms = oldest_unmerged_ms(ring)) {
    series.write(metric::kOldestUnmerged, partition, static_cast<double>(*began_ms) / 1000.0, Fold::kMin);
  }
  for (size_t slot = 0; slot < ring.slots.size() && series.each(); ++slot) {
    series.scrape().write(
        metric::kSlotState,
        {std::to_string(partition.value), std::to_string(slot), slot_state_name(ring.slots[slot].state)}, 1);
  }
}

}  // namespace bloomring
