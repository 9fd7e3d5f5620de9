#include "pipeline/stages/merge_stage.h"

#include "base/log.h"
#include "state/slot_length.h"
#include "state/store/store_metrics.h"

namespace bloomring {

MergeStage::MergeStage(const StageContext& stage_context)
    : PartitionStage(stage_context, {"merge", "reads the merged watermark", MemoryUse::kMergeQueue},
                     stage_context.settings.topics.user_batches, stage_context.settings.threads.merge),
      totals_(stage_context.metrics, merge_series()),
      levels_(stage_context.metrics, stage_context.clock, levels_config(stage_context, "merge")),
      registration_(stage_context.metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

void MergeStage::claim(const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
  claims.push_back(queue_claim(MemoryUse::kMergeQueue, "merge queue", counts.pipeline, 1));
}

Result<PartitionStage::PartitionWork> MergeStage::make(PartitionId partition, const kafka::PartitionFacts& facts,
                                                       std::unique_ptr<Source> source) {
  const Settings& settings = context().settings;
  // Taken over first: from then on no earlier owner moves the watermark.
  BLOOMRING_TRY_ASSIGN(auto writer, context().stores.writer->take_over(partition));
  BLOOMRING_TRY_ASSIGN(std::optional<MergedWatermark> watermark, context().stores.reader->read_watermark(partition));
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
  auto task = std::make_unique<MergeTask>(std::move(config), context().calendar,
                                          std::make_unique<LeasedWriter>(lease(), std::move(writer)),
                                          std::move(watermark), std::move(source), make_sink());
  return PartitionWork{std::move(task), start.read_from};
}

void MergeStage::report(PartitionId partition, PartitionTask& any) {
  const auto& task = static_cast<const MergeTask&>(any);
  levels_.set(topic(), partition, {task.applied(), task.committed(), task.source().log_end()});
  const std::lock_guard lock(mutex_);
  const auto [counted, first] = counted_.try_emplace(partition);
  if (first) counted->second = totals_.share();
  counted->second.set({task.merge().stats(), task.dead_letters(), task.store_retries()});
}

void MergeStage::untrack(PartitionId partition, bool lost) {
  levels_.remove(topic(), partition, lost);
  const std::lock_guard lock(mutex_);
  counted_.erase(partition);
}

StageStatus MergeStage::status() const {
  return {.stage = "merge",
          .partitions = levels_.status(),
          .store = StoreStatus{context().settings.store.path, context().stores.admin->stats().bytes_on_disk}};
}

void MergeStage::write(Scrape& scrape) {
  const FilterStoreStats stats = context().stores.admin->stats();
  write_all(scrape, store_reader_series(), stats);
  write_all(scrape, store_writer_series(), stats);
}

}  // namespace bloomring
