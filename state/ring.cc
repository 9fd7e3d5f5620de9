#include "state/ring.h"

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
  return ring;
}

void Ring::open(HourIndex hour) {
  SlotView& slot = slot_at(hour);
  if (!slot.hours.empty()) {
    // The ring came round: what is unmerged stays, and a drain of it that is under way is abandoned.
    if (active_ != 0 && active_slot_ == slot_of(hour)) active_ = 0;
    ++laps_;
  }
  slot.state = SlotState::kFilling;
  slot.runs = 0;
  const int64_t start_ms = hour.value * config_.slot_ms;
  slot.hours.push_back(
      {.hour = hour, .range = {applied_, applied_}, .late_before_ms = std::min(start_ms, newest_play_ms_)});
  due_[slot_of(hour).value] = false;
  hour_from_ = applied_;
  filling_ = hour;
}

// Where hours were merged ahead of a gap, what is merged may lie in this very hour: its nominal start says nothing. (It
// was merged with the forgets of before, so that only what is below the base matters.)
void Ring::open_first(HourIndex hour, int64_t log_time_ms) {
  open(hour);
  if (first_hour_.value == 0) return;  // Nothing is merged.
  newest_play_ms_ = std::min(log_time_ms, below_logged_ms_.value_or(log_time_ms));
  slot_at(hour).hours.back().late_before_ms = newest_play_ms_;
}

void Ring::seal_filling() {
  SlotView& slot = slot_at(*filling_);
  StagedHour& staged = slot.hours.back();
  staged.range = {hour_from_, applied_};
  if (staged.range.from == staged.range.to) slot.hours.pop_back();  // An hour without records leaves nothing behind.
  slot.state = slot.hours.empty() ? SlotState::kFree : SlotState::kSealed;
  due_[slot_of(*filling_).value] = slot.state == SlotState::kSealed;
}

void Ring::make_second_runs_due(HourIndex hour) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const SlotView& slot = slots_[i];
    const bool drained_once =
        (slot.state == SlotState::kDraining || slot.state == SlotState::kSealed) && slot.runs == 1;
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

bool Ring::pass_time(int64_t now_ms) {
  const HourIndex hour = hour_of(now_ms);
  if (!filling_ || hour <= *filling_) return false;
  advance_to(hour);
  return true;
}

std::optional<Drain> Ring::next_drain() {
  if (active_ != 0) return std::nullopt;
  std::optional<size_t> oldest;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (!due_[i]) continue;
    if (!oldest || slots_[i].hours.front().hour < slots_[*oldest].hours.front().hour) oldest = i;
  }
  if (!oldest) return std::nullopt;
  SlotView& slot = slots_[*oldest];
  due_[*oldest] = false;
  slot.state = SlotState::kDraining;
  ++slot.runs;
  active_ = next_drain_id_++;
  active_slot_ = SlotIndex(static_cast<uint32_t>(*oldest));
  DrainAttempt attempt = slot.runs == 1 ? DrainAttempt::kFirst : DrainAttempt::kSecond;
  if (slot.hours.size() > 1) attempt = DrainAttempt::kLap;
  return Drain{active_, active_slot_, attempt, slot.hours, earlier_with_forgets(active_slot_)};
}

std::vector<StagedHour> Ring::earlier_with_forgets(SlotIndex slot) const {
  const HourIndex last = slots_[slot.value].hours.back().hour;
  std::vector<StagedHour> earlier;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (i == slot.value) continue;
    for (const StagedHour& staged : slots_[i].hours) {
      if (staged.hour < last && staged.forgets > 0) earlier.push_back(staged);
    }
  }
  return earlier;
}

void Ring::drain_finished(uint64_t drain_id) {
  if (active_ == drain_id) active_ = 0;
}

void Ring::drain_failed(uint64_t drain_id) {
  if (active_ != drain_id) return;
  slots_[active_slot_.value].state = SlotState::kSealed;
  active_ = 0;
}

std::vector<HourIndex> Ring::merged(const MergedWatermark& watermark) {
  std::vector<HourIndex> released;
  for (size_t i = 0; i < slots_.size(); ++i) {
    SlotView& slot = slots_[i];
    if (slot.hours.empty()) continue;
    const bool filling = slot.state == SlotState::kFilling;
    std::erase_if(slot.hours, [&](const StagedHour& staged) {
      if (filling && staged.hour == *filling_) return false;
      if (!watermark.covers(staged.range)) return false;
      released.push_back(staged.hour);
      return true;
    });
    if (filling || !slot.hours.empty()) continue;
    slot.state = SlotState::kMerged;
    due_[i] = false;
    if (active_ != 0 && active_slot_.value == i) active_ = 0;
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

Offset Ring::unmerged_from() const {
  Offset from = hour_from_;
  for (const SlotView& slot : slots_) {
    if (!slot.hours.empty()) from = std::min(from, slot.hours.front().range.from);
  }
  return from;
}

}  // namespace bloomring
