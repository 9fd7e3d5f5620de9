// The window stage of a process: a window task for each partition of user-events that the group gives it.
#pragma once

#include <map>
#include <mutex>

#include "base/metrics/totals.h"
#include "pipeline/metrics/partition_levels.h"
#include "pipeline/metrics/partition_series.h"
#include "pipeline/runtime/catch_up.h"
#include "pipeline/stages/base/partition_stage.h"
#include "pipeline/stages/user_batches_watch.h"
#include "pipeline/tasks/window_metrics.h"
#include "pipeline/tasks/window_task.h"
#include "state/window/rocks_window_store.h"

namespace bloomring {

class WindowStage final : public PartitionStage {
 public:
  explicit WindowStage(const StageContext& context);
  ~WindowStage() override { stop(StopMode::kRestart); }
  static void claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims);
  StageStatus status() const override;

 private:
  // The last report of a partition.
  struct Reported {
    RingStatus ring;
    int64_t filling_age_ms = 0;
    int64_t custody_gap = 0;  // Records that only the local state still has.
    size_t drain_events_max = 0;
    Totals<WindowCounts>::Share counted = {};
  };

  Result<PartitionWork> make(PartitionId partition, const kafka::PartitionFacts& facts,
                             std::unique_ptr<Source> source) override;
  Result<std::unique_ptr<WindowStore>> open_store(const RocksWindowStoreConfig& config);
  Result<Ring> start_ring(WindowStore& store, PartitionId partition, const kafka::PartitionFacts& facts,
                          Offset& read_from);
  void report(PartitionId partition, PartitionTask& task) override;
  void warn_of_gap(PartitionId partition, int64_t before, int64_t now);
  void untrack(PartitionId partition, bool lost) override;
  void write(Scrape& scrape);
  static void write_ring(PartitionSeries& series, PartitionId partition, const RingStatus& ring);

  RingConfig ring_config_;
  Totals<WindowCounts> totals_;
  PartitionLevels levels_;
  CatchUpReport catch_up_;
  UserBatchesWatch batches_;
  mutable std::mutex mutex_;
  std::map<PartitionId, Reported> reported_;
  Metrics::Registration registration_;
};

}  // namespace bloomring
