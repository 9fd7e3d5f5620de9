// A fifth stage, as docs/architecture.md tells to add one: it counts the records of user-events.
#pragma once

#include <map>
#include <mutex>

#include "pipeline/settings/topology.h"
#include "pipeline/stages/base/partition_stage.h"

namespace bloomring::testing {

class CountingStage final : public PartitionStage {
 public:
  explicit CountingStage(const StageContext& context);
  ~CountingStage() override { stop(StopMode::kRestart); }
  static StageRow row();

  // `records` is the number of records that it has read.
  StageStatus status() const override;

 private:
  Result<PartitionWork> make(PartitionId partition, const kafka::PartitionFacts& facts,
                             std::unique_ptr<Source> source) override;
  void report(PartitionId partition, PartitionTask& task) override;
  void untrack(PartitionId partition, bool lost) override;

  mutable std::mutex mutex_;
  std::map<PartitionId, double> records_;
};

}  // namespace bloomring::testing
