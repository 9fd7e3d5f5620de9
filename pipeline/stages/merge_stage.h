// The merge stage of a process: merges the filter view, and measures what the merge does and the filter store has.
// Threading: see PartitionStage. Each worker reports its own tasks; `mutex_` guards `counted_`.
// Errors: see PartitionStage.
#pragma once

#include <map>
#include <mutex>

#include "base/metrics/totals.h"
#include "pipeline/stages/view_merge_stage.h"
#include "pipeline/tasks/merge_metrics.h"

namespace bloomring {

class MergeStage final : public ViewMergeStage {
 public:
  explicit MergeStage(const StageContext& context);
  ~MergeStage() override { stop(StopMode::kRestart); }
  static void claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims);
  StageStatus status() const override;

 private:
  void report(PartitionId partition, PartitionTask& task) override;
  void untrack(PartitionId partition, bool lost) override;
  void write(Scrape& scrape);

  Totals<MergeCounts> totals_;
  std::mutex mutex_;
  std::map<PartitionId, Totals<MergeCounts>::Share> counted_;
  Metrics::Registration registration_;
};

}  // namespace bloomring
