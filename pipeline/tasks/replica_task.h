// The serve stage's task of one partition: user-events in, recent plays for queries out.
//
// Reads by assignment, in no group: rebalances and deploys of the pipeline never touch it. The task skips and counts a
// record that is not an event block; the window stage writes its dead letter.
//
// Freshness comes from the brokers, not from the consumer: to a consumer, a hung connection looks like an idle topic.
// Another thread asks the brokers for the end of the log about once a second and passes it on (`update_log_end`). When
// all records below that end are applied, the partition is fresh as of the moment of the request. Without answers its
// age grows, and query answers say so. The moment is one of the steady clock: log times come from other machines'
// clocks and do not tell how old the applied records are.
// Errors: after each of them the partition is not ready.
// - Of this partition alone: the task ends (`ended`). Its source fails; or the filter store has merged more than the
//   log holds, and brokers asked since then have confirmed it for 30 s. Such a watermark releases nothing.
// - kFatal when the filter store was restored from a backup: memory and cached filters then lack records merged since,
//   and the next start reads them again.
// Threading: see Task; the query service reads `partition` at the same time (replica_partition.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "pipeline/io/io.h"
#include "pipeline/io/task.h"
#include "serving/query/replica_partition.h"
#include "state/store/filter_reader.h"

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
  // `start`: the first offset of `source`. `log_end_at_start`: the partition is ready when all records below are
  // applied. `clock` and `filters` outlive the task.
  ReplicaTask(ReplicaTaskConfig config, const Clock& clock, std::shared_ptr<ReplicaPartition> partition,
              FilterReader& filters, std::unique_ptr<Source> source, Offset start, Offset log_end_at_start);

  Result<bool> step(int64_t now_ms) override;
  // The watermark that an earlier task of the partition read: the store's must not be older.
  void know(const MergedWatermark& watermark) { watermark_ = watermark; }
  const MergedWatermark& watermark() const { return watermark_; }
  // Why the task has ended; ok while it runs.
  const Status& ended() const { return ended_; }
  // The log ended at `offset` at some moment after `asked_at_ns` of the steady clock.
  void update_log_end(Offset offset, int64_t asked_at_ns);

  const ReplicaPartition& partition() const { return *partition_; }
  const ReplicaStats& stats() const { return stats_; }
  Offset log_end() const { return source_->log_end(); }
  Offset next() const { return next_; }  // Every record below it was applied.
  // The time from the writing of events to the log to their application.
  struct Delay {
    double seconds;
    uint64_t events;
  };
  // The delays since the last call, of live blocks only. A delay is the newest log time read, carried forward by the
  // steady clock, minus the block's log time. It is thus relative to the fastest block so far, and compares no two
  // machines' clocks. The times of requests for the log's end bound it on both sides, so that a slow log clock does
  // not accumulate.
  std::vector<Delay> take_delays();

 private:
  void apply(const LogRecord& record);
  void note_fresh();
  void note_delay(const LogRecord& record, uint64_t events);
  double delay_seconds(const LogRecord& record) const;
  Status take_watermark();
  bool went_back(const MergedWatermark& watermark) const;
  // A lower bound of the log's end, from the last news of it.
  Offset known_end() const { return std::max({end_least_, next_, source_->log_end()}); }
  void end(Status why);

  static constexpr size_t kDelaysMax = 4096;  // Kept between two reports; further ones count with the last.
  static constexpr size_t kEndsMax = 16;

  ReplicaTaskConfig config_;
  const Clock& clock_;
  std::shared_ptr<ReplicaPartition> partition_;  // Shared with the directory of the query service.
  FilterReader& filters_;
  std::unique_ptr<Source> source_;
  Offset next_;
  Offset ready_at_;
  struct LogEnd {
    Offset offset;
    int64_t asked_at_ns;
    int64_t answered_at_ns;
  };
  std::deque<LogEnd> ends_;  // As answered, until applied. When full, the last is replaced.
  Offset end_least_{-1};     // The highest end seen so far. An answer below it is stale.
  int64_t watermark_due_ns_ = INT64_MIN;
  MergedWatermark watermark_;               // As last read...
  int64_t watermark_read_at_ns_ = 0;        // ...when it was above the known end.
  std::optional<int64_t> beyond_since_ns_;  // Since when later answers are below it.
  Status ended_;
  ReplicaStats stats_;
  std::vector<Delay> delays_;
};

}  // namespace bloomring
