// When each slot of a ring is drained for one view (operators/view.h). A part of Ring, which says when hours begin, end
// and are merged, and knows their ranges.
//
//      +--------+  its hour   +---------+ hour   +--------+           +----------+  watermark  +--------+
//      |  free  |------------>| filling |------->| sealed |---------->| draining |------------>| merged |
//      +--------+  begins     +---------+ ends   +--------+   next    +----------+   covers    +--------+
//          ^                   |  ^   ^              |                  |  ^ second run          |
//          +-------------------+  |   | the lap:     |                  +--+ h+2, or after       |
//            hour had no records  |   | joined       |                    |     the lap          |
//                                 |   +--------------+--------------------+                      |
//                                 +--------------------------------------------------------------+
//                                               its next hour begins
//
// An hour whose slot end is in the view's topic of batches but not read yet is not drained again, neither by a second
// run nor after a lap: the merge stage will read it (BatchesLog).
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace bloomring {

enum class SlotState : uint8_t { kFree, kFilling, kSealed, kDraining, kMerged };
inline constexpr size_t kSlotStateCount = 5;
std::string_view slot_state_name(SlotState state);  // "free", "filling", ...

// The known offsets of a partition of a topic of batches: `merge_from`, the merge stage's position, or the log's start
// where that is later; and `end`, the end of the log. Nothing is known while `end` is -1.
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

class DrainSchedule {
 public:
  explicit DrainSchedule(uint32_t slots) : slots_(slots) {}

  // The hour begins to fill the slot. An hour that the view has not merged stays there: the two are drained as one.
  void open(SlotIndex slot, HourIndex hour);
  // The hour that filled the slot has ended; without records it leaves.
  void seal(SlotIndex slot, bool has_records);
  // Makes a second drain due for each slot that was drained once and whose newest hour is before `hour` - 1.
  void make_second_runs_due(HourIndex hour);

  // The next drain that is due: the slot with the oldest hour.
  struct Due {
    SlotIndex slot;
    DrainAttempt attempt = DrainAttempt::kFirst;
    std::vector<HourIndex> hours;    // Oldest first; without those whose slot end is unread.
    std::vector<HourIndex> earlier;  // Not merged, not unread, not in the drain, before its last hour.
  };
  // Begins the drain, with this id. Nothing when none is due or one is running.
  std::optional<Due> next(const BatchesLog& batches, uint64_t id);
  // The drain is complete in the view's topic of batches. Changes nothing when it is not current.
  void finished(uint64_t id);
  bool current(uint64_t id) const { return active_ == id; }

  // `covered` hours are merged. A drain without an hour left is not current any more.
  void merged(const std::function<bool(HourIndex)>& covered);
  bool wants(HourIndex hour, SlotIndex slot) const;

  // As stored (ViewState::Hour).
  Offset drained_behind(HourIndex hour, SlotIndex slot) const;
  void set_drained_behind(HourIndex hour, SlotIndex slot, Offset behind);

  SlotState state(size_t slot) const { return slots_[slot].state; }

 private:
  struct Hour {
    HourIndex hour;
    Offset drained_behind{-1};
  };
  struct Slot {
    SlotState state = SlotState::kFree;
    uint32_t runs = 0;  // Drains started since the slot was sealed.
    bool due = false;
    std::vector<Hour> hours;  // That the view has not merged, oldest first.
  };
  bool in_drain(HourIndex hour) const;
  static std::vector<HourIndex> ready(const Slot& slot, const BatchesLog& batches);
  std::vector<HourIndex> earlier(const BatchesLog& batches) const;

  std::vector<Slot> slots_;
  uint64_t active_ = 0;  // Id of the running drain, 0 for none.
  size_t active_slot_ = 0;
  std::vector<HourIndex> active_hours_;  // The hours that it drains...
  Offset active_behind_;                 // ...and the end of the topic of batches when it began.
};

}  // namespace bloomring
