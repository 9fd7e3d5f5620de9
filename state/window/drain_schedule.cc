#include "state/window/drain_schedule.h"

#include <algorithm>

namespace bloomring {

std::string_view slot_state_name(SlotState state) {
  switch (state) {
    case SlotState::kFree: return "free";
    case SlotState::kFilling: return "filling";
    case SlotState::kSealed: return "sealed";
    case SlotState::kDraining: return "draining";
    case SlotState::kMerged: return "merged";
  }
  return "unknown";
}

void DrainSchedule::open(SlotIndex index, HourIndex hour) {
  Slot& slot = slots_[index.value];
  slot.state = SlotState::kFilling;
  slot.runs = 0;
  slot.due = false;
  slot.hours.push_back({hour});
}

void DrainSchedule::seal(SlotIndex index, bool has_records) {
  Slot& slot = slots_[index.value];
  if (!has_records) slot.hours.pop_back();
  slot.state = slot.hours.empty() ? SlotState::kFree : SlotState::kSealed;
  slot.due = slot.state == SlotState::kSealed;
}

void DrainSchedule::make_second_runs_due(HourIndex hour) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const bool under_way = active_ != 0 && active_slot_ == i;
    // Due again: one run has ended, and the slot's newest hour ended at least an hour ago.
    const bool drained_once = slot.state == SlotState::kDraining && slot.runs == 1 && !under_way;
    if (drained_once && slot.hours.back().hour.value <= hour.value - 2) slot.due = true;
  }
}

bool DrainSchedule::in_drain(HourIndex hour) const {
  return std::ranges::find(active_hours_, hour) != active_hours_.end();
}

// The hours of the slot, without those whose slot end is unread.
std::vector<HourIndex> DrainSchedule::ready(const Slot& slot, const BatchesLog& batches) {
  std::vector<HourIndex> hours;
  for (const Hour& hour : slot.hours) {
    if (!batches.stands_unread(hour.drained_behind)) hours.push_back(hour.hour);
  }
  return hours;
}

// Unread hours are left out: in the topic of batches they come before this drain.
std::vector<HourIndex> DrainSchedule::earlier(const BatchesLog& batches) const {
  std::vector<HourIndex> earlier;
  for (const Slot& slot : slots_) {
    for (const HourIndex hour : ready(slot, batches)) {
      if (hour < active_hours_.back() && !in_drain(hour)) earlier.push_back(hour);
    }
  }
  return earlier;
}

std::optional<DrainSchedule::Due> DrainSchedule::next(const BatchesLog& batches, uint64_t id) {
  if (active_ != 0) return std::nullopt;
  std::optional<size_t> oldest;
  std::vector<HourIndex> hours;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].due) continue;
    std::vector<HourIndex> some = ready(slots_[i], batches);
    // A slot whose hours all wait stays due; of the others the one with the oldest hour goes first.
    if (some.empty() || (oldest && hours.front() < some.front())) continue;
    oldest = i;
    hours = std::move(some);
  }
  if (!oldest) return std::nullopt;
  Slot& slot = slots_[*oldest];
  slot.due = false;
  slot.state = SlotState::kDraining;
  ++slot.runs;
  active_ = id;
  active_slot_ = *oldest;
  active_behind_ = batches.end;
  active_hours_ = hours;
  DrainAttempt attempt = slot.runs == 1 ? DrainAttempt::kFirst : DrainAttempt::kSecond;
  if (hours.size() > 1) attempt = DrainAttempt::kLap;
  return Due{SlotIndex(static_cast<uint32_t>(*oldest)), attempt, std::move(hours), earlier(batches)};
}

void DrainSchedule::finished(uint64_t id) {
  if (active_ != id) return;
  active_ = 0;
  for (Hour& hour : slots_[active_slot_].hours) {
    if (in_drain(hour.hour)) hour.drained_behind = active_behind_;
  }
}

void DrainSchedule::merged(const std::function<bool(HourIndex)>& covered) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (slot.hours.empty()) continue;
    std::erase_if(slot.hours, [&](const Hour& hour) { return covered(hour.hour); });
    // No hour of the running drain is left: its owner abandons it.
    const bool left = std::ranges::any_of(slot.hours, [&](const Hour& hour) { return in_drain(hour.hour); });
    if (active_slot_ == i && !left) active_ = 0;
    // Hours are left, or the slot fills: it is not merged yet.
    if (slot.state == SlotState::kFilling || !slot.hours.empty()) continue;
    slot.state = SlotState::kMerged;
    slot.due = false;
  }
}

bool DrainSchedule::wants(HourIndex hour, SlotIndex slot) const {
  return std::ranges::find(slots_[slot.value].hours, hour, &Hour::hour) != slots_[slot.value].hours.end();
}

Offset DrainSchedule::drained_behind(HourIndex hour, SlotIndex slot) const {
  const auto found = std::ranges::find(slots_[slot.value].hours, hour, &Hour::hour);
  return found == slots_[slot.value].hours.end() ? Offset(-1) : found->drained_behind;
}

void DrainSchedule::set_drained_behind(HourIndex hour, SlotIndex slot, Offset behind) {
  const auto found = std::ranges::find(slots_[slot.value].hours, hour, &Hour::hour);
  if (found != slots_[slot.value].hours.end()) found->drained_behind = behind;
}

}  // namespace bloomring
