#include "state/window/ring.h"

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

Ring::Ring(RingConfig config, Offset base, HourIndex first_hour)
    : config_(config),
      first_hour_(first_hour),
      slots_(config.slots),
      due_(config.slots),
      hour_from_(base),
      applied_(base),
      newest_play_ms_(0) {
  BLOOMRING_CHECK(config.slots >= 3, "a ring has a filling, a sealed and a draining slot");
  BLOOMRING_CHECK(config.slot_ms > 0, "a slot has a length");
}

Result<Ring> Ring::restore(RingConfig config, const WindowState& state) {
  if (state.hours.empty() || state.hours.back().hour != state.filling || state.hours.back().range.to != state.applied) {
    return corrupt("window state: the filling hour is not the last one");
  }
  BLOOMRING_CHECK(state.slot_ms == 0 || state.slot_ms == config.slot_ms, "the caller has compared the slots' lengths");
  Ring ring(config, state.hours.front().range.from);
  const StagedHour* previous = nullptr;
  for (const StagedHour& staged : state.hours) {
    const bool in_order =
        previous == nullptr || (previous->hour < staged.hour && previous->range.to <= staged.range.from);
    if (!in_order || staged.range.to < staged.range.from || staged.hour.value < 0) {
      return corrupt("window state: its hours are not in order");
    }
    ring.open(staged.hour);
    ring.slot_at(staged.hour).hours.back() = staged;
    ring.hour_from_ = staged.range.from;
    ring.applied_ = staged.range.to;
    if (&staged != &state.hours.back()) ring.seal_filling();
    previous = &staged;
  }
  ring.laps_ = 0;
  ring.newest_play_ms_ = state.newest_play_ms;
  ring.lost_below_ = state.hours.back().late_before_ms == StagedHour::kNotKnown;
  ring.noted_time_ms_ = state.log_time_ms;
  return ring;
}

void Ring::open(HourIndex hour) {
  SlotView& slot = slot_at(hour);
  if (!slot.hours.empty()) {
    ++laps_;  // A lap: the unmerged hours stay.
  }
  slot.state = SlotState::kFilling;
  slot.runs = 0;
  const int64_t late_before_ms = lost_below_ ? StagedHour::kNotKnown : newest_play_ms_;
  slot.hours.push_back({.hour = hour, .range = {applied_, applied_}, .late_before_ms = late_before_ms});
  due_[slot_of(hour).value] = false;
  hour_from_ = applied_;
  filling_ = hour;
}

// For the plays below the base only a bound of their log time is known. (They were merged with the forgets before
// them.)
void Ring::open_first(HourIndex hour, int64_t log_time_ms) {
  open(hour);
  if (first_hour_.value == 0) return;  // Nothing is merged.
  newest_play_ms_ = std::min(log_time_ms, below_logged_ms_.value_or(log_time_ms));
  slot_at(hour).hours.back().late_before_ms = newest_play_ms_;
}

void Ring::lost_records() {
  if (!filling_) return;  // The first record will open the first hour.
  lost_below_ = true;
  advance_to(HourIndex(filling_->value + 1));
}

void Ring::bound_lost(int64_t log_time_ms) {
  newest_play_ms_ = std::max(newest_play_ms_, log_time_ms);
  slot_at(*filling_).hours.back().late_before_ms = newest_play_ms_;
  lost_below_ = false;
}

void Ring::seal_filling() {
  SlotView& slot = slot_at(*filling_);
  StagedHour& staged = slot.hours.back();
  staged.range = {hour_from_, applied_};
  if (staged.range.from == staged.range.to) slot.hours.pop_back();  // An hour without records is not drained.
  slot.state = slot.hours.empty() ? SlotState::kFree : SlotState::kSealed;
  due_[slot_of(*filling_).value] = slot.state == SlotState::kSealed;
}

void Ring::make_second_runs_due(HourIndex hour) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const SlotView& slot = slots_[i];
    const bool under_way = active_ != 0 && active_slot_.value == i;
    // Due again: one run has ended (finished or failed), and the slot's newest hour ended at least an hour ago.
    const bool drained_once =
        (slot.state == SlotState::kDraining || slot.state == SlotState::kSealed) && slot.runs == 1 && !under_way;
    if (drained_once && slot.hours.back().hour.value <= hour.value - 2) due_[i] = true;
  }
}

void Ring::advance_to(HourIndex hour) {
  seal_filling();
  make_second_runs_due(hour);
  open(hour);
}

HourIndex Ring::admit(Offset offset, int64_t log_time_ms, const Staged& record) {
  BLOOMRING_CHECK(offset >= applied_, "records are admitted in the order of their offsets");
  const HourIndex hour = std::max(hour_of(std::max<int64_t>(log_time_ms, 0)), first_hour_);
  if (lost_below_) bound_lost(log_time_ms);
  // No hour yet: open the first. A later hour: end the filling one. Any other: it joins the filling hour.
  if (!filling_) {
    open_first(hour, std::max<int64_t>(log_time_ms, 0));
  } else if (hour > *filling_) {
    advance_to(hour);
  }
  applied_ = Offset(offset.value + 1);
  StagedHour& staged = slot_at(*filling_).hours.back();
  staged.range = {hour_from_, applied_};
  staged.events += record.events;
  staged.bytes += record.bytes;
  staged.forgets += record.forgets;
  newest_play_ms_ = std::max(newest_play_ms_, record.newest_play_ms);
  return *filling_;
}

bool Ring::pass_to(Offset next) {
  if (!filling_ || next <= applied_) return false;
  applied_ = next;
  slot_at(*filling_).hours.back().range = {hour_from_, applied_};
  return true;
}

bool Ring::advance_clock(int64_t now_ms) {
  const HourIndex hour = hour_of(now_ms);
  if (!filling_ || hour <= *filling_) return false;
  advance_to(hour);
  return true;
}

// The hours of the slot, without those whose slot end is unread in user-batches.
std::vector<StagedHour> Ring::hours_to_drain(const SlotView& slot, const BatchesLog& batches) const {
  std::vector<StagedHour> hours;
  std::ranges::copy_if(slot.hours, std::back_inserter(hours),
                       [&](const StagedHour& staged) { return !batches.stands_unread(staged.drained_behind); });
  return hours;
}

std::optional<Drain> Ring::next_drain(const BatchesLog& batches) {
  if (active_ != 0) return std::nullopt;
  std::optional<size_t> oldest;
  std::vector<StagedHour> hours;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!due_[i]) continue;
    std::vector<StagedHour> some = hours_to_drain(slots_[i], batches);
    // A slot whose hours all wait stays due; of the others the one with the oldest hour goes first.
    if (some.empty() || (oldest && hours.front().hour < some.front().hour)) continue;
    oldest = i;
    hours = std::move(some);
  }
  if (!oldest) return std::nullopt;
  SlotView& slot = slots_[*oldest];
  due_[*oldest] = false;
  slot.state = SlotState::kDraining;
  ++slot.runs;
  active_ = next_drain_id_++;
  active_slot_ = SlotIndex(static_cast<uint32_t>(*oldest));
  active_behind_ = batches.end;
  active_hours_.clear();
  for (const StagedHour& staged : hours) active_hours_.push_back(staged.hour);
  DrainAttempt attempt = slot.runs == 1 ? DrainAttempt::kFirst : DrainAttempt::kSecond;
  if (hours.size() > 1) attempt = DrainAttempt::kLap;
  std::vector<StagedHour> earlier = earlier_with_forgets(hours, batches);
  return Drain{active_, active_slot_, attempt, std::move(hours), std::move(earlier)};
}

// Unread hours are left out: in user-batches their forgets come before this drain.
std::vector<StagedHour> Ring::earlier_with_forgets(const std::vector<StagedHour>& drained,
                                                   const BatchesLog& batches) const {
  std::vector<StagedHour> earlier;
  const auto wanted = [&](const StagedHour& staged) {
    const bool in_drain = std::ranges::find(active_hours_, staged.hour) != active_hours_.end();
    return staged.hour < drained.back().hour && staged.forgets > 0 && !in_drain &&
           !batches.stands_unread(staged.drained_behind);
  };
  for (const SlotView& slot : slots_) std::ranges::copy_if(slot.hours, std::back_inserter(earlier), wanted);
  return earlier;
}

void Ring::drain_finished(uint64_t drain_id) {
  if (active_ != drain_id) return;
  active_ = 0;
  for (StagedHour& staged : slots_[active_slot_.value].hours) {
    if (std::ranges::find(active_hours_, staged.hour) != active_hours_.end()) staged.drained_behind = active_behind_;
  }
}

void Ring::drain_failed(uint64_t drain_id) {
  if (active_ != drain_id) return;
  SlotState& state = slots_[active_slot_.value].state;
  if (state == SlotState::kDraining) state = SlotState::kSealed;  // Otherwise it fills again: the ring made a lap.
  active_ = 0;
}

std::vector<HourIndex> Ring::merged(const MergedWatermark& watermark) {
  std::vector<HourIndex> released;
  const auto drained_now = [&](const StagedHour& staged) {
    return std::ranges::find(active_hours_, staged.hour) != active_hours_.end();
  };
  for (size_t i = 0; i < slots_.size(); ++i) {
    SlotView& slot = slots_[i];
    if (slot.hours.empty()) continue;
    const bool filling = slot.state == SlotState::kFilling;
    std::erase_if(slot.hours, [&](const StagedHour& staged) {
      // The filling hour stays, since more records may come; an hour that is not covered stays; others are released.
      if (filling && staged.hour == *filling_) return false;
      if (!watermark.covers(staged.range)) return false;
      released.push_back(staged.hour);
      return true;
    });
    // No hour of the running drain is left: it is not current any more, and its owner abandons it.
    if (active_slot_.value == i && std::ranges::none_of(slot.hours, drained_now)) active_ = 0;
    // Hours are left, or the slot fills: it is not merged yet.
    if (filling || !slot.hours.empty()) continue;
    slot.state = SlotState::kMerged;
    due_[i] = false;
  }
  std::sort(released.begin(), released.end());
  return released;
}

WindowState Ring::state(uint32_t partition_count) const {
  WindowState state;
  state.applied = applied_;
  state.partition_count = partition_count;
  state.filling = filling_.value_or(HourIndex(0));
  state.newest_play_ms = newest_play_ms_;
  state.slot_ms = config_.slot_ms;
  state.log_time_ms = known_time_ms();
  for (const SlotView& slot : slots_) state.hours.insert(state.hours.end(), slot.hours.begin(), slot.hours.end());
  std::sort(state.hours.begin(), state.hours.end(), [](const auto& a, const auto& b) { return a.hour < b.hour; });
  return state;
}

std::optional<HourIndex> Ring::hour_holding(Offset offset) const {
  for (const SlotView& slot : slots_) {
    for (const StagedHour& staged : slot.hours) {
      if (staged.range.from <= offset && offset < staged.range.to) return staged.hour;
    }
  }
  return std::nullopt;
}

int64_t Ring::known_time_ms() const {
  return std::max(noted_time_ms_, filling_.value_or(first_hour_).value * config_.slot_ms);
}

Offset Ring::unmerged_from() const {
  Offset from = hour_from_;
  for (const SlotView& slot : slots_) {
    if (!slot.hours.empty()) from = std::min(from, slot.hours.front().range.from);
  }
  return from;
}

}  // namespace bloomring
