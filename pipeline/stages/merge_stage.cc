#include "pipeline/stages/merge_stage.h"

#include "base/log.h"
#include "base/metrics/metric_names.h"
#include "state/slot_length.h"

namespace bloomring {

MergeStage::MergeStage(const StageContext& stage_context)
    : PartitionStage(stage_context, {"merge", "reads the merged watermark", MemoryUse::kMergeQueue},
                     stage_context.settings.topics.user_batches, stage_context.settings.threads.merge),
      filters_(lease(), *stage_context.filters),
      levels_(stage_context.metrics, stage_context.clock, levels_config(stage_context, "merge")),
      registration_(stage_context.metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

void MergeStage::claim(const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
  claims.push_back(queue_claim(MemoryUse::kMergeQueue, "merge queue", counts.pipeline, 1));
}

Result<PartitionStage::PartitionWork> MergeStage::make(PartitionId partition, const kafka::PartitionFacts& facts,
                                                       std::unique_ptr<Source> source) {
  const Settings& settings = context().settings;
  BLOOMRING_TRY_ASSIGN(std::optional<MergedWatermark> watermark, context().filters->read_watermark(partition));
  BLOOMRING_TRY(check_slot_length(watermark ? watermark->slot_ms : 0, settings.ring.slot_ms(), "the merged watermark"));
  const MergeStart start = decide_merge_start({facts.committed, facts.log_start, facts.log_end});
  log_debug("merge: begins" + (start.reason.empty() ? std::string() : ": " + std::string(start.reason)),
            {{"stage", "merge"},
             {"topic", topic()},
             {"partition", partition.value},
             {"offset", start.read_from.value},
             {"log_end", facts.log_end.value},
             {"merged_topic", settings.topics.user_events},
             {"merged_offset", watermark ? watermark->offset.value : 0}});
  MergeTaskConfig config;
  config.merge = {partition, settings.topics.partitions, settings.ring.slot_ms()};
  config.batches_topic = settings.topics.user_batches;
  config.dead_topic = settings.topics.dead;
  auto task = std::make_unique<MergeTask>(std::move(config), context().calendar, filters_, std::move(watermark),
                                          std::move(source), make_sink());
  return PartitionWork{std::move(task), start.read_from};
}

void MergeStage::report(PartitionId partition, PartitionTask& any) {
  const auto& task = static_cast<const MergeTask&>(any);
  levels_.set(topic(), partition, {task.applied(), task.committed(), task.source().log_end()});
  const Reported now{task.merge().stats(), task.dead_letters(), task.store_retries()};
  const std::lock_guard lock(mutex_);
  count(reported_[partition], now);
  reported_[partition] = now;
}

void MergeStage::count(const Reported& before, const Reported& now) {
  Metrics& metrics = context().metrics;
  const uint64_t slot_ends = now.stats.slot_ends - before.stats.slot_ends;
  metrics.counter(metric::kMergeRecords, {"slot_end"}).add(slot_ends);
  metrics.counter(metric::kMergeRecords, {"batch"}).add(now.stats.records - before.stats.records - slot_ends);
  metrics.counter(metric::kMergedBatches).add(now.stats.batches - before.stats.batches);
  metrics.counter(metric::kCoveredRecords).add(now.stats.records_covered - before.stats.records_covered);
  metrics.counter(metric::kIncompleteSlotEnds).add(now.stats.slot_ends_incomplete - before.stats.slot_ends_incomplete);
  metrics.counter(metric::kWatermarkMoves).add(now.stats.watermark_moves - before.stats.watermark_moves);
  metrics.counter(metric::kMergedPlays).add(now.stats.plays - before.stats.plays);
  metrics.counter(metric::kExpiredPlays).add(now.stats.plays_expired - before.stats.plays_expired);
  metrics.counter(metric::kForgottenPlays).add(now.stats.plays_forgotten - before.stats.plays_forgotten);
  metrics.counter(metric::kMergedForgets).add(now.stats.forgets - before.stats.forgets);
  metrics.counter(metric::kForgottenDamaged).add(now.stats.forgotten_damaged - before.stats.forgotten_damaged);
  metrics.counter(metric::kStoreErrors, {"apply"}).add(now.store_retries - before.store_retries);
  metrics.counter(metric::kDeadLetters, {"merge", "bad_batch"}).add(now.dead_letters - before.dead_letters);
}

void MergeStage::untrack(PartitionId partition, bool lost) {
  levels_.remove(topic(), partition, lost);
  const std::lock_guard lock(mutex_);
  reported_.erase(partition);
}

void MergeStage::write(Scrape& scrape) {
  const FilterStoreStats stats = context().filters->stats();
  scrape.write(metric::kStoreUpdates, {}, static_cast<double>(stats.updates));
  scrape.write(metric::kStoreBytes, {}, static_cast<double>(stats.bytes_written));
  scrape.write(metric::kStorePhysicalBytes, {}, static_cast<double>(stats.physical_bytes_written));
  scrape.write(metric::kStoreDiskBytes, {}, static_cast<double>(stats.bytes_on_disk));
  scrape.write(metric::kStoreExpiredUpdates, {}, static_cast<double>(stats.expired_updates));
  scrape.write(metric::kStoreExpired, {}, static_cast<double>(stats.expired_dropped));
  scrape.write(metric::kStoreRefused, {}, static_cast<double>(stats.refused));
  scrape.write(metric::kStoreTableFiles, {}, static_cast<double>(stats.table_files));
  scrape.write(metric::kStoreOpenFilesMax, {}, static_cast<double>(stats.open_files_max));
}

}  // namespace bloomring
