// The window stage's work on one partition: stages event blocks by hour and drains the slots of the ring.
//
// Steps are pure on records and times: no Kafka, no threads, no clock reads. The task (pipeline/tasks/window_task.h)
// brings records and takes the results.
// Guarantees: a block and its offset become part of the store in one write; a drain emits every play of its slot; the
// caller writes the slot end only after every record of the drain is durable (slot_end).
// Errors: those of the window store.
// Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "operators/slot_drain.h"
#include "schemas/json/play_json.h"
#include "state/window/ring.h"
#include "state/window/window_store.h"

namespace bloomring {

struct WindowConfig {
  PartitionId partition;
  uint32_t partition_count = 1;
  RingConfig ring;
  SlotDrainConfig drain;
  // [0, 0.9]: the part of an hour over which the passes of a drain are spread; 1/ring.slots of it for older hours.
  double drain_spread = 0.5;
};

// Counts since the start, for metrics.
struct WindowStats {
  uint64_t blocks = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;
  uint64_t hours_released = 0;
  uint64_t drains[4] = {};  // Started, by DrainAttempt.
  uint64_t drains_failed = 0;
  uint64_t drains_abandoned = 0;  // All of their hours were merged while they ran.
  uint64_t batches = 0;           // Users' batches of finished drains.
  uint64_t batch_plays = 0;
};

class Window {
 public:
  Window(WindowConfig config, WindowStore& store, Ring ring);

  // See Ring::set_base_log_time.
  void set_base_log_time(int64_t log_time_ms) { ring_.set_base_log_time(log_time_ms); }
  // See Ring::note_time.
  void note_time(int64_t now_ms) { ring_.note_time(now_ms); }
  // Applies the record at `offset`. kBadBlock (with `detail`): not an event block of this partition, nothing was
  // applied; the caller writes a dead letter and then calls `skip`.
  Result<Refusal> apply(Offset offset, int64_t log_time_ms, std::string_view block, std::string& detail);
  // Moves the applied offset past a refused record.
  Status skip(Offset offset, int64_t log_time_ms);
  // Every record below `next` was applied or skipped; offsets without one are passed.
  Status pass_to(Offset next);
  // The partition was read to its end at this time of the log (operators/log_clock.h): a quiet hour seals too.
  Status advance_clock(int64_t now_ms);

  // Starts a drain when one is due, and appends the records of the next pass when log time has reached the pass's time.
  // It first abandons a drain whose hours are all merged by now: no slot end may follow its records.
  Status drain_step(int64_t now_ms, const BatchesLog& batches, std::vector<std::string>& records);
  // The running drain, 0 for none. Never the same twice.
  uint64_t drain_id() const { return drain_ && ring_.drain_current(drain_->drain().id) ? drain_->drain().id : 0; }
  // True when every pass of the drain has been appended and the drain may still end.
  bool passes_done() const { return drain_id() != 0 && drain_->done(); }
  // The slot end, to be written when every record of the drain is durable.
  std::string slot_end() const;
  // The slot end is durable.
  void drain_finished();
  // A record of the drain could not be written: the slot waits for its next run.
  void drain_failed();

  // Removes the hours that the watermark covers.
  Status merged(const MergedWatermark& watermark);

  const Ring& ring() const { return ring_; }
  // The most events that the drain under way has held at once; 0 without one.
  size_t drain_events_max() const { return drain_ ? drain_->events_held_max() : 0; }
  const WindowStats& stats() const { return stats_; }

 private:
  void start_drain(int64_t now_ms, const BatchesLog& batches);
  bool abandon_if_merged();
  int64_t pass_due_ms() const;

  WindowConfig config_;
  WindowStore& store_;
  Ring ring_;
  std::optional<SlotDrain> drain_;
  int64_t drain_start_ms_ = 0;
  int64_t drain_spread_ms_ = 0;
  WindowStats stats_;
};

}  // namespace bloomring
