// `bloomring replay`: brings the plays of a log into a living installation, with the event times that they have.
//
// The plays go the way of live ones, through the ingest task into user-events, at the pace of the job: so everything
// that holds for live plays holds for them, and every stage judges them by their own event times
// (docs/decisions/0060-old-history-enters-as-plays.md).
//
//   begin: fix the range -> pass 1: read the forgets -> pass 2: write forgets and plays -> done
//
// Pass 1 is repeated at every start, because the forgets are in memory only; pass 2 goes on at its position. Pass 1
// reads ten times as fast as pass 2, as it writes nothing, and is left out where the site's topics have no forgets and
// the range does not end at a time.
// Not written: plays beyond retention, plays that a later forget of the log takes, serves, repeats. Refused records go
// to the dead letters, as those of ingest; they make the end "done, with differences".
//
// Guarantees: as Job. The position covers a record when every block and dead letter made of it is acknowledged.
// Fault points: replay.range_fixed, replay.scanned, and those of the ingest task.
// Threading: one thread.
// Errors: as Job. kFatal when retention has passed what was not replayed yet.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/jobs/job.h"
#include "pipeline/jobs/replay/forget_scan.h"
#include "pipeline/jobs/replay/history_forgets.h"
#include "pipeline/jobs/replay/range_source.h"
#include "pipeline/jobs/replay/replay_log.h"
#include "pipeline/jobs/replay/replay_range.h"
#include "pipeline/tasks/ingest_task.h"
#include "state/period.h"

namespace bloomring {

struct ReplayJobConfig {
  std::string brokers;              // Of the log that is read: kafka.bootstrap there.
  std::vector<std::string> topics;  // To be read.
  std::string from, until;          // As typed; see parse_bound.
  // How to read and write: mapping, form, partitions, topics. `takes`, `history` and `stage` are the job's.
  IngestTaskConfig ingest;
};

class ReplayJob final : public Job {
 public:
  static constexpr uint64_t kScanSpeed = 10;  // Records that pass 1 reads for each unit of the rate.

  // kInvalid when --from or --until cannot be read. `log`, `clock` and `calendar` outlive the job.
  static Result<std::unique_ptr<ReplayJob>> create(ReplayJobConfig config, ReplayLog& log, std::unique_ptr<Sink> sink,
                                                   const Calendar& calendar, const Clock& clock);
  ~ReplayJob() override;

  std::string_view kind() const override { return "replay"; }
  std::string_view unit() const override { return reads_blocks() ? "blocks" : "records"; }
  std::string_view rate_unit() const override { return reads_blocks() ? "events" : "records"; }
  JobParameters parameters() const override;
  Result<JobPlan> plan() override;
  Status begin(const JobStart& start) override;
  Result<JobStep> step(uint64_t units_max, int64_t now_ms) override;
  Result<bool> settle(int64_t now_ms) override;
  std::string position() const override { return encode_parts(parts_); }
  JobProgress progress() const override;
  JobCounts counts() const override;
  bool differences() const override;

 private:
  enum class Pass : uint8_t { kScan, kWrite, kDone };
  struct LeftOut {
    uint64_t expired = 0;
    uint64_t forgotten = 0;
    uint64_t serves = 0;
  };

  ReplayJob(ReplayJobConfig config, ReplayLog& log, std::unique_ptr<Sink> sink, const Calendar& calendar,
            const Clock& clock);
  bool reads_blocks() const { return config_.ingest.form == IngestTaskConfig::Form::kBlocks; }
  bool may_have_forgets() const { return reads_blocks() || config_.ingest.ingest.mapping.forgets; }
  bool scans_only(const kafka::TopicPartition& at) const;
  Result<ReplayParts> find_parts();
  Status check_parts();
  Status begin_scan();
  Status begin_write();
  Result<JobStep> scan(uint64_t units_max, int64_t now_ms);
  Result<JobStep> write(uint64_t units_max, int64_t now_ms);
  Result<bool> finish_writing(int64_t now_ms);
  bool takes(const UserRef& user, const Event& event);

  const ReplayJobConfig config_;
  const ReplayBound from_, until_;
  ReplayLog& log_;
  const Calendar& calendar_;
  const Clock& clock_;
  Pass pass_ = Pass::kScan;
  ReplayParts parts_;  // Keeps its places: sources refer to them.
  ReplayBudget budget_;
  HistoryForgets forgets_;
  JobCounts before_;  // Of earlier starts.
  LeftOut left_out_;
  int64_t now_ms_ = 0;
  std::unique_ptr<Sink> sink_;  // Until the task has it.
  std::unique_ptr<ForgetScan> scan_;
  std::unique_ptr<IngestTask> task_;
  std::vector<const RangeSource*> sources_;  // Owned by the task.
  bool finishing_ = false;
};

}  // namespace bloomring
