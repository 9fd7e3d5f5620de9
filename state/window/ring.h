// The time ring: the hours of a partition's log joined to a ring of slots, as a pure state machine.
//
// Slot = hour modulo N. The ring is the scheduler of drains: when hour h begins, h's trigger
//   - seals the slot that was filling and makes its first drain due,
//   - makes a second drain due for a slot that was drained an hour before and is still not merged,
//   - and where the slot of h itself still holds an unmerged hour, joins the two: the old data stays, new data comes
//     to it, and both are drained as one after the lap.
// An hour is never drained while it is filling, and nothing is freed before the merged watermark covers it. A drain has
// the hours that its slot held when it began. When the ring comes round to the slot while it goes on, it goes on to its
// end, and the data that joined is drained after it: a drain that was begun anew in each lap would never end where it
// lasts longer than one.
//
//      +--------+  its hour   +---------+ hour   +--------+           +----------+  watermark  +--------+
//      |  free  |------------>| filling |------->| sealed |---------->| draining |------------>| merged |
//      +--------+  begins     +---------+ ends   +--------+next_drain +----------+   covers    +--------+
//          ^                   |  ^   ^              |  ^ drain failed  | |  ^ second run          |
//          +-------------------+  |   | the lap:     |  +---------------+ +--+ h+2, or after       |
//            hour had no records  |   | joined       |                    |     the lap            |
//                                 |   +--------------+--------------------+                        |
//                                 +----------------------------------------------------------------+
//                                               its next hour begins
//
// A merged slot holds no data any more: `merged` returns the hours to be removed in the step in which they are covered.
// Hours are contiguous ranges of offsets: every offset below the applied one is either below the base the ring
// started from, or released, or in exactly one hour of exactly one slot. Log time is made monotone here: a record
// whose timestamp lies before the filling hour belongs to the filling hour.
// The numbers of hours may run ahead of log time: one record with a log time far ahead opens an hour that log time does
// not reach for days. From then on time alone ends hours (`pass_time`), each after a slot's length, and records go to
// the hour that fills. `known_time_ms` says up to where time has come, so that this goes on after a restart.
// An hour whose slot end stands in user-batches and was not read yet is not drained again, neither by a second run nor
// after a lap: the merge stage will come to it (BatchesLog).
// Event times are only looked at to say from when on a forget is late (StagedHour::late_before_ms): not after the
// newest play below the hour's first offset, whatever the clocks of ingest and the brokers say. Of what is merged below
// the base nothing is known but that it was logged no later than the last record below the base. Of records that the
// log lost unread, some of which may be merged ahead, it is known that they were logged no later than the first behind
// them.
// Threading: a value used by one thread. No I/O, no clock: time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/user_batch.h"
#include "schemas/watermark.h"
#include "state/window/window_store.h"

namespace bloomring {

enum class SlotState : uint8_t { kFree, kFilling, kSealed, kDraining, kMerged };
inline constexpr size_t kSlotStateCount = 5;
std::string_view slot_state_name(SlotState state);  // "free", "filling", ...

// What is known of a partition of user-batches: how far the merge stage has come, or the log's start where that is
// later, and where the log ends. Nothing is known while `end` is -1.
struct BatchesLog {
  Offset merge_from{-1};
  Offset end{-1};
  // Nothing is known yet, but soon: what may stand unread waits.
  bool expected = false;

  // True when the slot end behind `behind` will be read, as far as it is known.
  bool stands_unread(Offset behind) const {
    if (behind.value < 0) return false;
    return end.value < 0 ? expected : merge_from <= behind && behind <= end;
  }
};

struct RingConfig {
  uint32_t slots = 6;           // N: [3, 64].
  int64_t slot_ms = 3'600'000;  // Length of an hour: at least 1,000.
};

// What one drain covers: all hours of one slot, oldest first.
struct Drain {
  uint64_t id = 0;  // Never used twice by the same ring.
  SlotIndex slot;
  DrainAttempt attempt = DrainAttempt::kFirst;
  std::vector<StagedHour> hours;
  // Hours before its last one, on other slots, that hold forgets: they are not merged yet as far as the ring knows.
  // What they forget goes out with the drain, so that no play is merged before a forget that was logged before it.
  std::vector<StagedHour> earlier = {};
};

class Ring {
 public:
  // An empty ring whose first hour will start at `base`: everything below is merged or does not exist. It is no hour
  // before `first_hour`: an hour that was merged never fills again, whatever the log times at `base` are.
  Ring(RingConfig config, Offset base, HourIndex first_hour = HourIndex(0));
  // The ring as it was when `state` was saved; drains that were under way are due again.
  // kCorrupt when the state cannot be a ring's.
  static Result<Ring> restore(RingConfig config, const WindowState& state);

  HourIndex hour_of(int64_t time_ms) const { return HourIndex(time_ms / config_.slot_ms); }
  SlotIndex slot_of(HourIndex hour) const { return SlotIndex(static_cast<uint32_t>(hour.value % config_.slots)); }

  // The last record below the base was logged at this time. To be said before the first record is admitted, where the
  // log still has it; else that first record's own time stands for it.
  void saw_below(int64_t log_time_ms) { below_logged_ms_ = log_time_ms; }
  // The log has lost records from the applied offset on. To be said of a restored ring before anything is admitted: the
  // hour that was filling ends. The state that is saved keeps it in mind until the first record behind them.
  void lost_records();

  // What is staged of a record; nothing of a dead letter.
  struct Staged {
    uint64_t events = 0;
    uint64_t bytes = 0;
    uint64_t forgets = 0;        // Of the events.
    int64_t newest_play_ms = 0;  // Event time; 0 without plays.
  };
  // Takes the record at `offset` (at least `applied`) into the ring and returns the hour it belongs to, which may be
  // later than the one that was filling.
  HourIndex admit(Offset offset, int64_t log_time_ms, const Staged& staged);
  // Every record below `next` was admitted: the offsets up to it, which have none, belong to the filling hour. False
  // when that is nothing new, or when no hour fills yet: the first record's hour takes them up.
  bool pass_to(Offset next);
  // Says that the partition has been read to its end at `now_ms`, a time of the log that is not ahead of its records to
  // come: they would wait for the hour that it opens. Returns true when the clock closed the filling hour.
  bool pass_time(int64_t now_ms);

  // The next drain that is due, oldest data first; at most one is under way. Nothing when none is due. Hours that stand
  // unread in user-batches wait; their slot is drained when that has changed.
  std::optional<Drain> next_drain(const BatchesLog& batches = {});
  // All of the drain was handed on. It stays unmerged until the watermark says otherwise.
  void drain_finished(uint64_t drain_id);
  // The drain could not be finished; the slot waits for its next run.
  void drain_failed(uint64_t drain_id);
  // False when all of its hours were merged while the drain was under way: it must be abandoned without a slot end.
  bool drain_current(uint64_t drain_id) const { return active_ == drain_id; }
  bool draining() const { return active_ != 0; }

  // Marks what the watermark covers as merged and takes it off the ring. Returns the hours whose data can be removed.
  std::vector<HourIndex> merged(const MergedWatermark& watermark);

  // What the window store keeps.
  WindowState state(uint32_t partition_count) const;
  Offset applied() const { return applied_; }
  // Time has come to here, as far as the ring knows: later than every hour that was closed. 0 before anything is known.
  int64_t known_time_ms() const;
  // It is `now_ms` for the log: kept with the state.
  void note_time(int64_t now_ms) { noted_time_ms_ = std::max(noted_time_ms_, now_ms); }
  // When the filling hour ends, in ms; 0 before the first record.
  int64_t filling_end_ms() const { return filling_ ? (filling_->value + 1) * config_.slot_ms : 0; }
  // The filling hour when it holds records.
  std::optional<HourIndex> filling_with_records() const {
    return filling_ && hour_from_ < applied_ ? filling_ : std::nullopt;
  }
  // The first offset that may not be merged: where the log must be read from if the local state is lost.
  Offset unmerged_from() const;

  // The hour on the ring whose range holds the offset, or nothing when it is merged or was never applied.
  std::optional<HourIndex> hour_holding(Offset offset) const;

  // For metrics and inspection.
  struct SlotView {
    SlotState state = SlotState::kFree;
    std::vector<StagedHour> hours;
    uint32_t runs = 0;  // Drains started since the slot was sealed.
  };
  const std::vector<SlotView>& slots() const { return slots_; }
  const RingConfig& config() const { return config_; }
  // Slots that were joined because the ring came round to unmerged data, since the start.
  uint64_t laps() const { return laps_; }

 private:
  SlotView& slot_at(HourIndex hour) { return slots_[slot_of(hour).value]; }
  void open(HourIndex hour);
  void open_first(HourIndex hour, int64_t log_time_ms);
  void bound_lost(int64_t log_time_ms);
  void seal_filling();
  void advance_to(HourIndex hour);
  void make_second_runs_due(HourIndex hour);
  std::vector<StagedHour> hours_to_drain(const SlotView& slot, const BatchesLog& batches) const;
  std::vector<StagedHour> earlier_with_forgets(const std::vector<StagedHour>& drained, const BatchesLog& batches) const;

  RingConfig config_;
  HourIndex first_hour_;
  std::vector<SlotView> slots_;
  std::vector<bool> due_;  // Per slot: a drain is due.
  std::optional<HourIndex> filling_;
  Offset hour_from_;  // Where the filling hour (or the first one, before any) starts.
  Offset applied_;
  int64_t newest_play_ms_;  // No play below applied_ is newer.
  std::optional<int64_t> below_logged_ms_;
  bool lost_below_ = false;  // Records below applied_ were lost, and none behind them was read yet.
  int64_t noted_time_ms_ = 0;
  uint64_t active_ = 0;  // Id of the drain under way, 0 for none.
  SlotIndex active_slot_;
  std::vector<HourIndex> active_hours_;  // What it drains...
  Offset active_behind_;                 // ...and where user-batches ended when it began.
  uint64_t next_drain_id_ = 1;
  uint64_t laps_ = 0;
};

}  // namespace bloomring
