// The window stage of a process: a window task for each partition of user-events that the group gives it. It drains the
// ring for every view.
// Threading: see PartitionStage. Each worker reports its own tasks; `mutex_` guards `reported_`.
// Errors: see PartitionStage.
#pragma once

#include <map>
#include <mutex>

#include "base/metrics/totals.h"
#include "pipeline/metrics/partition_levels.h"
#include "pipeline/metrics/partition_series.h"
#include "pipeline/runtime/catch_up.h"
#include "pipeline/stages/base/partition_stage.h"
#include "pipeline/stages/view_log_watch.h"
#include "pipeline/stages/view_row.h"
#include "pipeline/tasks/window_metrics.h"
#include "pipeline/tasks/window_task.h"
#include "state/window/rocks_window_store.h"

namespace bloomring {

class WindowStage final : public PartitionStage {
 public:
  // `rows` outlive the stage.
  explicit WindowStage(const StageContext& context, ViewRows rows = views());
  ~WindowStage() override { stop(StopMode::kRestart); }
  static void claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims);
  StageStatus status() const override;

 private:
  // The last report of a partition.
  struct Reported {
    RingStatus ring;
    int64_t filling_age_ms = 0;
    int64_t custody_gap_records = 0;  // Records that only the local state still has.
    size_t drain_events_max = 0;
    Totals<WindowCounts>::Share counted = {};
  };

  Result<PartitionWork> make(PartitionId partition, const kafka::PartitionFacts& facts,
                             std::unique_ptr<Source> source) override;
  Result<std::unique_ptr<WindowStore>> open_store(const RocksWindowStoreConfig& config);
  Result<Window> start_window(WindowStore& store, PartitionId partition, const kafka::PartitionFacts& facts,
                              Offset& read_from);
  std::vector<ViewLog> view_logs() const;
  void report(PartitionId partition, PartitionTask& task) override;
  void warn_of_custody_gap(PartitionId partition, int64_t before, int64_t now);
  void untrack(PartitionId partition, bool lost) override;
  void write(Scrape& scrape);
  void write_unread(PartitionSeries& series, PartitionId partition) const;
  static void write_ring(PartitionSeries& series, PartitionId partition, const RingStatus& ring);

  // A view with what watches its log.
  struct WatchedView {
    const ViewRow& row;
    std::unique_ptr<ViewLogWatch> watch;
  };
  Totals<WindowCounts> totals_;
  PartitionLevels levels_;
  CatchUpReport catch_up_;
  std::vector<WatchedView> views_;
  mutable std::mutex mutex_;
  std::map<PartitionId, Reported> reported_;
  Metrics::Registration registration_;
};

}  // namespace bloomring
