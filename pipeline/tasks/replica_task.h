// The serve stage's task of one partition: user-events in, recent plays for queries out.
//
// Reads by assignment, in no group: rebalances and deploys of the pipeline never touch it. A record that is no event
// block is skipped and counted here; the window stage writes its dead letter.
//
// How fresh the partition is, is what the brokers say, not what the source believes: a connection that hangs looks like
// a quiet partition from inside. So somebody asks the brokers for the end of the log about once a second and tells the
// task (`hear_log_end`). Once everything below that end is applied, the partition is fresh as of the moment of asking;
// when nobody answers it grows old, and answers say so. That moment is one of the steady clock: log times are of other
// machines' clocks, and say nothing of how old what was read is.
// Failure: what concerns this partition alone ends the task (`ended`): its source fails, or the filter store says that
// more is merged than the log holds, and brokers that were asked since then say so for 30 s. Nothing is released by
// such a watermark. The partition is not ready then. kFatal when the filter store went back to a backup: memory and
// cached filters then miss what was merged since, and the next start reads it again; the partition is not ready either.
// Threading: see Task; `held` is read by the query service at the same time (held_partition.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/io/io.h"
#include "pipeline/io/task.h"
#include "serving/query/held_partition.h"
#include "state/store/filter_store.h"

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
  // `clock` and `filters` outlive the task.
  ReplicaTask(ReplicaTaskConfig config, const Clock& clock, std::shared_ptr<HeldPartition> held, FilterStore& filters,
              std::unique_ptr<Source> source, Offset start, Offset log_end_at_start);

  Result<bool> step(int64_t now_ms) override;
  // What an earlier task of the partition knew of the store: it must not be back behind that.
  void know(const MergedWatermark& watermark) { watermark_ = watermark; }
  const MergedWatermark& watermark() const { return watermark_; }
  // Why the task does nothing any more; ok while it does.
  const Status& ended() const { return ended_; }
  // The log ended at `offset` at some moment after `asked_at_ns` of the steady clock.
  void hear_log_end(Offset offset, int64_t asked_at_ns);

  const HeldPartition& held() const { return *held_; }
  const ReplicaStats& stats() const { return stats_; }
  Offset log_end() const { return source_->log_end(); }
  Offset next() const { return next_; }  // Every record below it was applied.
  // From the moment at which events were written to the log to their application.
  struct Delay {
    double seconds;
    uint64_t events;
  };
  // Since the last call; live blocks only. The difference of a block's log time and the newest that was heard, carried
  // forward by the steady clock: so it counts against the fastest block so far, and compares no two machines' clocks.
  // What was asked of the log's end bounds it on both sides, so that a log whose clock is slow does not add up.
  std::vector<Delay> take_delays();

 private:
  void apply(const LogRecord& record);
  void note_fresh();
  void note_delay(const LogRecord& record, uint64_t events);
  double delay_seconds(const LogRecord& record) const;
  Status take_watermark();
  bool went_back(const MergedWatermark& watermark) const;
  // What the log held at least, when it was heard of last.
  Offset known_end() const { return std::max({end_least_, next_, source_->log_end()}); }
  void end(Status why);

  static constexpr size_t kDelaysMax = 4096;  // Kept between two reports; more are counted with the last.
  static constexpr size_t kEndsMax = 16;

  ReplicaTaskConfig config_;
  const Clock& clock_;
  std::shared_ptr<HeldPartition> held_;  // Shared with the directory of the query service.
  FilterStore& filters_;
  std::unique_ptr<Source> source_;
  Offset next_;
  Offset ready_at_;
  struct LogEnd {
    Offset offset;
    int64_t asked_at_ns;
    int64_t heard_at_ns;
  };
  std::deque<LogEnd> ends_;  // As heard, until everything below is applied. Of kEndsMax the last is replaced.
  Offset end_least_{-1};     // What an answer that is not out of date is not below.
  int64_t watermark_due_ns_ = INT64_MIN;
  MergedWatermark watermark_;               // As last read...
  int64_t watermark_read_at_ns_ = 0;        // ...when it was beyond the known end.
  std::optional<int64_t> beyond_since_ns_;  // Since when ends that were heard later are below it.
  Status ended_;
  ReplicaStats stats_;
  std::vector<Delay> delays_;
};

}  // namespace bloomring
