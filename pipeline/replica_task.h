// The serve stage's task of one partition: user-events in, recent plays for queries out.
//
// Reads by assignment, in no group: rebalances and deploys of the pipeline never touch it. A record that is no event
// block is skipped and counted here; the window stage writes its dead letter.
//
// How fresh the partition is, is what the brokers say, not what the source believes: a connection that hangs looks like
// a quiet partition from inside. So somebody asks the brokers for the end of the log about once a second and tells the
// task (`hear_log_end`). Once everything below that end is applied, the partition is fresh as of the moment of asking;
// when nobody answers it grows old, and answers say so.
// Failure: see Task; also kFatal when the filter store went back to a backup: memory and cached filters then miss what
// was merged since, and the next start reads it again.
// Threading: see Task; `held` is read by the query service at the same time (held_partition.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/io.h"
#include "pipeline/task.h"
#include "serving/held_partition.h"
#include "state/filter_store.h"

namespace bloomring {

struct ReplicaTaskConfig {
  uint32_t partition_count = 1;
  int64_t lap_ms = 6 * 3'600'000;
  size_t blocks_per_step = 64;
  int64_t watermark_interval_ms = 500;
};

struct ReplicaStats {
  uint64_t blocks = 0;
  uint64_t events = 0;
  uint64_t bad_blocks = 0;
  uint64_t store_retries = 0;
};

class ReplicaTask final : public Task {
 public:
  // `start`: what `source` gives first. `log_end_at_start`: the partition is ready when everything below has been
  // applied.
  ReplicaTask(ReplicaTaskConfig config, std::shared_ptr<HeldPartition> held, FilterStore& filters,
              std::unique_ptr<Source> source, Offset start, Offset log_end_at_start);

  Result<bool> step(int64_t now_ms) override;
  // The log ended at `end` at some moment after `asked_at_ms`.
  void hear_log_end(Offset end, int64_t asked_at_ms);

  const HeldPartition& held() const { return *held_; }
  const ReplicaStats& stats() const { return stats_; }
  Offset log_end() const { return source_->log_end(); }
  Offset next() const { return next_; }
  // Delays from a block's newest event to its application since the last call, in seconds; live blocks only.
  std::vector<double> take_delays();

 private:
  void apply(const LogRecord& record, int64_t now_ms);
  void note_fresh();
  void note_delay(const EventBlockReader& block, int64_t now_ms);
  Status take_watermark(int64_t now_ms);
  bool went_back(const MergedWatermark& watermark) const;

  static constexpr size_t kDelaysMax = 4096;  // Kept between two reports; more are not observed.

  ReplicaTaskConfig config_;
  std::shared_ptr<HeldPartition> held_;  // Shared with the directory of the query service.
  FilterStore& filters_;
  std::unique_ptr<Source> source_;
  Offset next_;
  Offset ready_at_;
  struct LogEnd {
    Offset offset;
    int64_t asked_at_ms;
  };
  std::optional<LogEnd> end_;  // As heard last, until everything below is applied.
  Offset end_least_{-1};       // What an answer that is not out of date is not below.
  int64_t watermark_due_ms_ = 0;
  MergedWatermark watermark_;  // As last read.
  ReplicaStats stats_;
  std::vector<double> delays_;
};

}  // namespace bloomring
