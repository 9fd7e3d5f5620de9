// The time ring: the hours of a partition's log joined to a ring of slots, as a pure state machine.
//
// Slot = hour modulo N. The ring schedules the drains. When hour h begins, the ring
//   - seals the slot that was filling and makes its first drain due,
//   - makes a second drain due for a slot that was drained an hour before and is still not merged,
//   - joins hour h to its slot if the slot still holds an unmerged hour: the old data stays, new data is added, and
//     both are drained as one after the lap.
// An hour is never drained while it is filling, and its data stays until the merged watermark covers it. A drain has
// the hours that its slot held when it began. If the ring reaches the slot again during the drain, the drain runs to
// its end, and the joined data is drained after it: a drain that restarted in each lap would never end if it took
// longer than a lap.
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
// A merged slot holds no data: `merged` returns the hours to remove in the step in which the watermark covers them.
// Hours are contiguous ranges of offsets: every offset below the applied one is either below the base the ring started
// from, or released, or in exactly one hour of exactly one slot. Log time is made monotone here: a record whose
// timestamp is before the filling hour belongs to the filling hour.
//
// The numbers of hours may run ahead of log time: one record with a log time far ahead opens an hour that log time does
// not reach for days. From then on time alone ends hours (`advance_clock`), each after a slot's length, and records go
// to the filling hour. `known_time_ms` is the log time reached so far; with it this continues after a restart.
//
// An hour whose slot end is in user-batches but not read yet is not drained again, neither by a second run nor after a
// lap: the merge stage will read it (BatchesLog).
//
// The ring uses event times only to decide which forgets are late: those older than the newest play below the hour's
// first offset (StagedHour::late_before_ms), whatever the clocks of ingest and the brokers say. For plays that the ring
// has not seen, the time at which they were logged bounds their event times:
//   merged below the base     logged no later than the last record below the base
//   lost from the log unread  logged no later than the first record after them; some may be merged ahead
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

// The known offsets of a partition of user-batches: `merge_from`, the merge stage's position, or the log's start where
// that is later; and `end`, the end of the log. Nothing is known while `end` is -1.
struct BatchesLog {
  Offset merge_from{-1};
  Offset end{-1};
  // Nothing is known yet, but will be soon: hours whose slot end may be unread wait.
  bool expected = false;

  // True when the merge stage will still read the slot end at or after `behind`, as far as is known.
  bool stands_unread(Offset behind) const {
    if (behind.value < 0) return false;
    return end.value < 0 ? expected : merge_from <= behind && behind <= end;
  }
};

struct RingConfig {
  uint32_t slots = 6;           // N: [3, 64].
  int64_t slot_ms = 3'600'000;  // Length of an hour: at least 1,000.
};

// The work of one drain: all hours of one slot, oldest first.
struct Drain {
  uint64_t id = 0;  // Never used twice by the same ring.
  SlotIndex slot;
  DrainAttempt attempt = DrainAttempt::kFirst;
  std::vector<StagedHour> hours;
  // Hours before its last one, on other slots, that hold forgets and are not merged yet, as far as the ring knows. The
  // drain carries their forgets too, so that no play is merged before a forget that was logged before it.
  std::vector<StagedHour> earlier = {};
};

class Ring {
 public:
  // An empty ring whose first hour will start at `base`: everything below is merged or does not exist. The first hour
  // is `first_hour` or a later one: a merged hour never fills again, whatever the log times at `base` are.
  Ring(RingConfig config, Offset base, HourIndex first_hour = HourIndex(0));
  // The ring as it was when `state` was saved; drains that were running are due again. kCorrupt when the state cannot
  // be a ring's.
  static Result<Ring> restore(RingConfig config, const WindowState& state);

  HourIndex hour_of(int64_t time_ms) const { return HourIndex(time_ms / config_.slot_ms); }
  SlotIndex slot_of(HourIndex hour) const { return SlotIndex(static_cast<uint32_t>(hour.value % config_.slots)); }

  // The last record below the base was logged at this time. Call it before the first `admit`, if the log still has that
  // record; otherwise the time of the first admitted record is used.
  void set_base_log_time(int64_t log_time_ms) { below_logged_ms_ = log_time_ms; }
  // The log has lost records from the applied offset on. Call it on a restored ring before the first `admit`: it ends
  // the filling hour. Saved states record the loss until the first record after the lost ones is admitted.
  void lost_records();

  // The staged part of a record; zeros for a dead letter.
  struct Staged {
    uint64_t events = 0;
    uint64_t bytes = 0;
    uint64_t forgets = 0;        // Of the events.
    int64_t newest_play_ms = 0;  // Event time; 0 without plays.
  };
  // Takes the record at `offset` (at least `applied`) into the ring and returns the hour it belongs to, which may be
  // later than the one that was filling.
  HourIndex admit(Offset offset, int64_t log_time_ms, const Staged& staged);
  // Every record below `next` was admitted: the offsets without a record up to `next` belong to the filling hour. False
  // when that changes nothing, or when no hour fills yet: the first record's hour will take them.
  bool pass_to(Offset next);
  // The partition has been read to its end at log time `now_ms`, which must not be ahead of the records to come: those
  // would fall into the hour that it opens. Returns true when this closed the filling hour.
  bool advance_clock(int64_t now_ms);

  // The next drain that is due, oldest data first; nothing when none is due or one is running. Hours whose slot end is
  // unread in user-batches wait; their slot is drained when that changes.
  std::optional<Drain> next_drain(const BatchesLog& batches = {});
  // The drain is complete in user-batches. Its hours stay unmerged until the watermark covers them.
  void drain_finished(uint64_t drain_id);
  // The drain could not be finished; the slot waits for its next run.
  void drain_failed(uint64_t drain_id);
  // False when all of its hours were merged during the drain: the caller must abandon it without a slot end.
  bool drain_current(uint64_t drain_id) const { return active_ == drain_id; }
  bool draining() const { return active_ != 0; }

  // Marks the hours that the watermark covers as merged and takes them off the ring. Returns them: their data can be
  // removed.
  std::vector<HourIndex> merged(const MergedWatermark& watermark);

  // The state that the window store keeps.
  WindowState state(uint32_t partition_count) const;
  Offset applied() const { return applied_; }
  // The log time reached, as far as the ring knows: at or after the end of every closed hour. 0 before anything is
  // known.
  int64_t known_time_ms() const;
  // Log time has reached `now_ms`; the state keeps it.
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
  // Slots that were joined because the ring reached unmerged data after a lap, since the start.
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
  bool lost_below_ = false;  // Records below applied_ were lost, and none after them was read yet.
  int64_t noted_time_ms_ = 0;
  uint64_t active_ = 0;  // Id of the running drain, 0 for none.
  SlotIndex active_slot_;
  std::vector<HourIndex> active_hours_;  // The hours that it drains...
  Offset active_behind_;                 // ...and the end of user-batches when it began.
  uint64_t next_drain_id_ = 1;
  uint64_t laps_ = 0;
};

}  // namespace bloomring
