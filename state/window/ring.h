// The time ring: the hours of a partition's log joined to a ring of slots, as a pure state machine.
//
// Slot = hour modulo N. The ring schedules the drains of each view (state/window/drain_schedule.h has the picture of a
// slot's states). When hour h begins, the ring
//   - seals the slot that was filling and makes its first drain due,
//   - makes a second drain due for a slot that was drained an hour before and is still not merged,
//   - joins hour h to its slot if the slot still holds an unmerged hour: the old data stays, new data is added, and
//     both are drained as one after the lap.
// An hour is never drained while it is filling, and its data stays until the merged watermark of every view covers it.
// A drain has the hours that its slot held when it began. If the ring reaches the slot again during the drain, the
// drain runs to its end, and the joined data is drained after it: a drain that restarted in each lap would never end if
// it took longer than a lap.
//
// Views have a schedule and a watermark each, so that a view whose store is away holds no other one up. It holds the
// data: `merged` returns the hours to remove in the step in which the last view's watermark covers them. The ring knows
// nothing else of views: neither what a drain collects, nor the form of its batches.
// Hours are contiguous ranges of offsets: every offset below the applied one is either below the base the ring started
// from, or released, or in exactly one hour of exactly one slot. Log time is made monotone here: a record whose
// timestamp is before the filling hour belongs to the filling hour.
//
// The numbers of hours may run ahead of log time: one record with a log time far ahead opens an hour that log time does
// not reach for days. From then on time alone ends hours (`advance_clock`), each after a slot's length, and records go
// to the filling hour. With `noted_time_ms` and `begun_ms` this continues after a restart (operators/log_clock.h).
//
// Each record of an hour was logged before the hour's end, (hour + 1) * slot_ms: an hour may end early and never late.
// Other places compute with log time and the length of a slot alone, and rest on this: the table of
// docs/architecture.md, "How to change the sealing of a slot".
// Threading: a value used by one thread. No I/O, no clock: time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/watermark.h"
#include "state/window/drain_schedule.h"
#include "state/window/window_store.h"

namespace bloomring {

struct RingConfig {
  uint32_t slots = 6;           // N: [3, 64].
  int64_t slot_ms = 3'600'000;  // Length of an hour: at least 1,000.
  size_t views = 1;
};

// The work of one drain: all hours of one slot that its view has not merged, oldest first.
struct Drain {
  uint64_t id = 0;  // Never used twice by the same ring.
  SlotIndex slot;
  DrainAttempt attempt = DrainAttempt::kFirst;
  std::vector<StagedHour> hours;
  // Hours before its last one that are neither in it nor merged, as far as the ring knows: the view's
  // notes on them go with the drain.
  std::vector<StagedHour> earlier = {};
};

class Ring {
 public:
  // An empty ring whose first hour will start at `base`: everything below is merged or does not exist. The first hour
  // is `first_hour` or a later one: a merged hour never fills again, whatever the log times at `base` are.
  Ring(RingConfig config, Offset base, HourIndex first_hour = HourIndex(0));
  // The ring as it was when `state` was saved; drains that were running are due again. Its views are those of the
  // state, in order, and further ones that have drained nothing. kCorrupt when the state cannot be a ring's.
  static Result<Ring> restore(RingConfig config, const WindowState& state);

  HourIndex hour_of(int64_t time_ms) const { return HourIndex(time_ms / config_.slot_ms); }
  SlotIndex slot_of(HourIndex hour) const { return SlotIndex(static_cast<uint32_t>(hour.value % config_.slots)); }

  // Ends the filling hour before its time; nothing before the first record. The hour after it is empty.
  void end_filling();

  // The staged part of a record; zeros for a dead letter.
  struct Staged {
    uint64_t events = 0;
    uint64_t bytes = 0;
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

  // The view's next drain that is due, oldest data first; nothing when none is due or one is running. Hours whose slot
  // end is unread in the view's topic of batches wait; their slot is drained when that changes.
  std::optional<Drain> next_drain(const BatchesLog& batches = {}, size_t view = 0);
  // The drain is complete in the topic of batches. Its hours stay unmerged until the watermark covers them.
  void drain_finished(uint64_t drain_id);
  // False when all of its hours were merged during the drain: the caller must abandon it without a slot end.
  bool drain_current(uint64_t drain_id) const;

  // Marks the hours that the view's watermark covers as merged. Returns the hours that every view has merged now, and
  // takes them off the ring: their data can be removed.
  std::vector<HourIndex> merged(const MergedWatermark& watermark, size_t view = 0);

  // The state that the window store keeps, without the names and notes of views.
  WindowState state(uint32_t partition_count) const;
  Offset applied() const { return applied_; }
  // Log time has reached `now_ms`; the state keeps it.
  void note_time(int64_t now_ms) { noted_time_ms_ = std::max(noted_time_ms_, now_ms); }
  // The newest log time that was noted; 0 before any was.
  int64_t noted_time_ms() const { return noted_time_ms_; }
  // The start of the newest hour that began: the filling one, or the first behind the merged ones. Log time may be
  // behind it.
  int64_t begun_ms() const { return filling_.value_or(first_hour_).value * config_.slot_ms; }
  // When the filling hour ends, in ms; 0 before the first record.
  int64_t filling_end_ms() const { return filling_ ? (filling_->value + 1) * config_.slot_ms : 0; }
  // The filling hour when it holds records.
  std::optional<HourIndex> filling_with_records() const {
    return filling_ && hour_from_ < applied_ ? filling_ : std::nullopt;
  }
  // The hours that the view has not merged, as far as the ring knows: oldest first, the filling one last.
  std::vector<StagedHour> unmerged(size_t view = 0) const;
  // The first offset that may not be merged: where the log must be read from if the local state is lost.
  Offset unmerged_from() const;

  // The hour on the ring whose range holds the offset, or nothing when it is merged or was never applied.
  std::optional<HourIndex> hour_holding(Offset offset) const;

  // For metrics and inspection. `state` is that of the view with the most to do: draining before sealed before merged.
  struct SlotView {
    SlotState state = SlotState::kFree;
    std::vector<StagedHour> hours;  // That not every view has merged.
  };
  const std::vector<SlotView>& slots() const { return slots_; }
  const RingConfig& config() const { return config_; }
  // Slots that were joined because the ring reached unmerged data after a lap, since the start.
  uint64_t laps() const { return laps_; }

 private:
  SlotView& slot_at(HourIndex hour) { return slots_[slot_of(hour).value]; }
  const StagedHour& staged_at(HourIndex hour) const;
  void open(HourIndex hour);
  void seal_filling();
  void advance_to(HourIndex hour);
  void show_states();
  std::vector<StagedHour> staged_of(const std::vector<HourIndex>& hours) const;

  RingConfig config_;
  HourIndex first_hour_;
  std::vector<SlotView> slots_;
  std::vector<DrainSchedule> views_;
  std::optional<HourIndex> filling_;
  Offset hour_from_;  // Where the filling hour (or the first one, before any) starts.
  Offset applied_;
  int64_t noted_time_ms_ = 0;
  uint64_t next_drain_id_ = 1;
  uint64_t laps_ = 0;
};

}  // namespace bloomring
