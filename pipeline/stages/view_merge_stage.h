// The stage that merges a view: a merge task for each partition of the view's topic that the group gives it.
// Threading: see PartitionStage.
// Errors: see PartitionStage.
#pragma once

#include "pipeline/metrics/partition_levels.h"
#include "pipeline/stages/base/partition_stage.h"
#include "pipeline/stages/view_row.h"
#include "pipeline/tasks/merge_task.h"

namespace bloomring {

// A stage without further metrics may be this class itself; the derived class's destructor calls `stop`.
class ViewMergeStage : public PartitionStage {
 public:
  // `row` outlives the stage.
  ViewMergeStage(const StageContext& context, const ViewRow& row, MemoryUse queue);
  ~ViewMergeStage() override { stop(StopMode::kRestart); }
  StageStatus status() const override;

 protected:
  void report(PartitionId partition, PartitionTask& task) override;
  void untrack(PartitionId partition, bool lost) override;

 private:
  Result<PartitionWork> make(PartitionId partition, const kafka::PartitionFacts& facts,
                             std::unique_ptr<Source> source) override;

  const ViewRow& row_;
  PartitionLevels levels_;
};

}  // namespace bloomring
