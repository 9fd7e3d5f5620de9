// The ingest stage of a process: one ingest task that reads every partition of the plays topics that the group gives
// it.
// Threading: see Stage. The worker's thread owns the task and makes the reports. The poller's thread assigns and
// revokes partitions, and reaches the task by messages to the worker.
// Errors: a task or a poll that fails ends the process through StageContext::on_failure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/metrics/totals.h"
#include "pipeline/metrics/partition_levels.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/base/group_poller.h"
#include "pipeline/stages/base/stage_context.h"
#include "pipeline/tasks/ingest_metrics.h"
#include "pipeline/tasks/ingest_task.h"

namespace bloomring {

// The task of ingest as the settings say, with the memory that a process of it plans; for jobs, too, that write plays.
IngestTaskConfig ingest_task_config(const Settings& settings);

class IngestStage final : public Stage, private kafka::GroupListener {
 public:
  explicit IngestStage(const StageContext& context);
  ~IngestStage() override { stop(StopMode::kRestart); }

  static void claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims);

  Status start() override;
  // Sends and acknowledges what was read, commits, and leaves.
  void stop(StopMode mode) override;
  StageStatus status() const override { return {.stage = context_.stage(), .partitions = levels_.status()}; }

 private:
  Result<Offset> on_assign(const kafka::TopicPartition& partition, const kafka::PartitionFacts& facts,
                           std::unique_ptr<Source> source) override;
  void on_revoke(std::span<const kafka::TopicPartition> partitions, bool lost) override;
  void finish_what_was_read();
  void report();
  void report_refused(const IngestStats& stats);
  void report_clock();
  void report_passed_over();

  const StageContext context_;
  Lease lease_;  // Of the poller's thread.
  Totals<IngestStats> totals_;  // First, as `report` says.
  PartitionLevels levels_;
  Totals<IngestStats>::Share counted_;
  RefusalWatch refusals_;
  uint64_t read_seen_ = 0;     // Plays read, as the watch of refusals last saw it...
  uint64_t refused_seen_ = 0;  // ...and those that were refused.
  bool degraded_ = false;
  bool clock_off_ = false;
  std::vector<PartitionId> passed_over_;  // As reported.
  std::unique_ptr<IngestTask> task_;  // Of the worker.
  Worker worker_;
  Worker poll_worker_;
  GroupPoller poller_;
};

}  // namespace bloomring
