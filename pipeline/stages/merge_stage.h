// The merge stage of a process: a merge task for each partition of user-batches that the group gives it.
#pragma once

#include <map>
#include <mutex>

#include "base/metrics/totals.h"
#include "operators/merge_start.h"
#include "pipeline/metrics/partition_levels.h"
#include "pipeline/runtime/leased.h"
#include "pipeline/stages/base/partition_stage.h"
#include "pipeline/tasks/merge_metrics.h"
#include "pipeline/tasks/merge_task.h"

namespace bloomring {

class MergeStage final : public PartitionStage {
 public:
  explicit MergeStage(const StageContext& context);
  ~MergeStage() override { stop(StopMode::kRestart); }
  static void claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims);
  StageStatus status() const override;

 private:
  Result<PartitionWork> make(PartitionId partition, const kafka::PartitionFacts& facts,
                             std::unique_ptr<Source> source) override;
  void report(PartitionId partition, PartitionTask& task) override;
  void untrack(PartitionId partition, bool lost) override;
  void write(Scrape& scrape);

  Totals<MergeCounts> totals_;
  PartitionLevels levels_;
  std::mutex mutex_;
  std::map<PartitionId, Totals<MergeCounts>::Share> counted_;
  Metrics::Registration registration_;
};

}  // namespace bloomring
