// The window stage's work on one partition: stages event blocks by hour and drains the slots of the ring for each view.
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
#include "operators/drain_progress.h"
#include "operators/view.h"
#include "operators/window_start.h"
#include "schemas/refusal.h"
#include "state/window/ring.h"
#include "state/window/window_store.h"

namespace bloomring {

struct WindowConfig {
  PartitionId partition;
  uint32_t partition_count = 1;
  RingConfig ring;  // `views` follows the views.
  // [0, 0.9]: the part of an hour over which the passes of a drain are spread; 1/ring.slots of it for older hours.
  double drain_spread = 0.5;
};

// Counts since the start, for metrics.
struct WindowStats {
  uint64_t blocks = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;
  uint64_t hours_released = 0;
  uint64_t drains[4] = {};        // Started, by DrainAttempt.
  uint64_t drains_abandoned = 0;  // All of their hours were merged while they ran.
  uint64_t batches = 0;           // Of finished drains.
  uint64_t batch_plays = 0;
};

class Window {
 public:
  // The window as `start` decides: with the hours of `local`, which the store has, or with an empty ring and store.
  // kCorrupt when the state cannot be that of these views; else the errors of the store. The store outlives the window.
  static Result<Window> open(WindowConfig config, WindowStore& store, Views views, const WindowStart& start,
                             const std::optional<WindowState>& local);

  // See View::set_base_log_time.
  void set_base_log_time(int64_t log_time_ms);
  // See Ring::note_time.
  void note_time(int64_t now_ms) { ring_.note_time(now_ms); }
  // Saves the noted time while an hour with records fills: a start goes on from it.
  Status save_time();
  // Applies the record at `offset`. kBadBlock (with `detail`): not an event block of this partition, nothing was
  // applied; the caller writes a dead letter and then calls `skip`.
  Result<Refusal> apply(Offset offset, int64_t log_time_ms, std::string_view block, std::string& detail);
  // Moves the applied offset past a refused record.
  Status skip(Offset offset, int64_t log_time_ms);
  // Every record below `next` was applied or skipped; offsets without one are passed.
  Status pass_to(Offset next);
  // The partition was read to its end at this time of the log (operators/log_clock.h): a quiet hour seals too.
  Status advance_clock(int64_t now_ms);

  size_t views() const { return views_.size(); }
  // Starts a drain of the view when one is due, and puts the records of the next pass into its outbox when log time has
  // reached the pass's time. True when it did either.
  Result<bool> drain_step(size_t view, int64_t now_ms, const BatchesLog& batches);
  // The view's drain under way; null without one. The caller sends its records.
  DrainProgress* drain(size_t view) { return views_[view].drain ? &*views_[view].drain : nullptr; }
  // The slot end of the view's drain is durable.
  void drain_finished(size_t view);

  // Marks the hours that the view's watermark covers as merged, and removes those that every view has merged. It
  // abandons a drain whose hours are all merged by now: no slot end may follow its records.
  Status merged(size_t view, const MergedWatermark& watermark);

  const Ring& ring() const { return ring_; }
  // The most events that a drain under way has had in memory at once; 0 without one.
  size_t drain_events_max() const;
  const WindowStats& stats() const { return stats_; }

 private:
  struct ViewDrains {
    std::unique_ptr<View> view;
    std::optional<DrainProgress> drain = std::nullopt;
  };
  Window(WindowConfig config, WindowStore& store, Ring ring, Views views);
  Status restore_views(const WindowState& state);
  WindowState state() const;
  void start_drain(ViewDrains& at, Drain due, int64_t now_ms);
  int64_t pass_due_ms(const DrainProgress& drain) const;

  WindowConfig config_;
  WindowStore& store_;
  Ring ring_;
  std::vector<ViewDrains> views_;
  WindowStats stats_;
};

}  // namespace bloomring
