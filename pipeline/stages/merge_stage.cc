#include "pipeline/stages/merge_stage.h"

#include "operators/filters/merge.h"
#include "pipeline/settings/settings.h"
#include "state/store/store_metrics.h"

namespace bloomring {

MergeStage::MergeStage(const StageContext& stage_context)
    : ViewMergeStage(stage_context, filter_view_row(), MemoryUse::kMergeQueue),
      totals_(stage_context.metrics, merge_series()),
      registration_(stage_context.metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

void MergeStage::claim(const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
  claims.push_back(queue_claim(MemoryUse::kMergeQueue, "merge queue", counts.pipeline, 1));
}

void MergeStage::report(PartitionId partition, PartitionTask& any) {
  ViewMergeStage::report(partition, any);
  const auto& task = static_cast<const MergeTask&>(any);
  const auto& merge = static_cast<const Merge&>(task.merge());  // Of the row's.
  const std::lock_guard lock(mutex_);
  const auto [counted, first] = counted_.try_emplace(partition);
  if (first) counted->second = totals_.share();
  counted->second.set({merge.stats(), task.dead_letters(), task.store_retries()});
}

void MergeStage::untrack(PartitionId partition, bool lost) {
  ViewMergeStage::untrack(partition, lost);
  const std::lock_guard lock(mutex_);
  counted_.erase(partition);
}

StageStatus MergeStage::status() const {
  StageStatus status = ViewMergeStage::status();
  status.store = StoreStatus{store_place(context().settings), context().stores.admin->stats().bytes_on_disk};
  return status;
}

void MergeStage::write(Scrape& scrape) {
  const FilterStoreStats stats = context().stores.admin->stats();
  write_all(scrape, store_reader_series(), stats);
  write_all(scrape, store_writer_series(), stats);
}

}  // namespace bloomring
