#include "state/window/ring.h"

#include <algorithm>

namespace bloomring {

Ring::Ring(RingConfig config, Offset base, HourIndex first_hour)
    : config_(config),
      first_hour_(first_hour),
      slots_(config.slots),
      views_(config.views, DrainSchedule(config.slots)),
      hour_from_(base),
      applied_(base) {
  BLOOMRING_CHECK(config.slots >= 3, "a ring has a filling, a sealed and a draining slot");
  BLOOMRING_CHECK(config.slot_ms > 0, "a slot has a length");
  BLOOMRING_CHECK(config.views > 0, "somebody wants the hours");
}

Result<Ring> Ring::restore(RingConfig config, const WindowState& state) {
  if (state.hours.empty() || state.hours.back().hour != state.filling || state.hours.back().range.to != state.applied) {
    return corrupt("window state: the filling hour is not the last one");
  }
  BLOOMRING_CHECK(state.slot_ms == 0 || state.slot_ms == config.slot_ms, "the caller has compared the slots' lengths");
  Ring ring(config, state.hours.front().range.from);
  for (size_t i = 0; i < state.hours.size(); ++i) {
    const StagedHour& staged = state.hours[i];
    const StagedHour* previous = i == 0 ? nullptr : &state.hours[i - 1];
    const bool in_order =
        previous == nullptr || (previous->hour < staged.hour && previous->range.to <= staged.range.from);
    if (!in_order || staged.range.to < staged.range.from || staged.hour.value < 0) {
      return corrupt("window state: its hours are not in order");
    }
    ring.open(staged.hour);
    ring.slot_at(staged.hour).hours.back() = staged;
    for (size_t v = 0; v < std::min(config.views, state.views.size()); ++v) {
      ring.views_[v].set_drained_behind(staged.hour, ring.slot_of(staged.hour), state.views[v].hours[i].drained_behind);
    }
    ring.hour_from_ = staged.range.from;
    ring.applied_ = staged.range.to;
    if (i + 1 < state.hours.size()) ring.seal_filling();
  }
  ring.laps_ = 0;
  ring.noted_time_ms_ = state.log_time_ms;
  ring.show_states();
  return ring;
}

void Ring::open(HourIndex hour) {
  SlotView& slot = slot_at(hour);
  if (!slot.hours.empty()) ++laps_;  // A lap: the unmerged hours stay.
  slot.hours.push_back({.hour = hour, .range = {applied_, applied_}});
  for (DrainSchedule& view : views_) view.open(slot_of(hour), hour);
  hour_from_ = applied_;
  filling_ = hour;
}

void Ring::seal_filling() {
  SlotView& slot = slot_at(*filling_);
  slot.hours.back().range = {hour_from_, applied_};
  const bool has_records = hour_from_ != applied_;
  if (!has_records) slot.hours.pop_back();  // An hour without records is not drained.
  for (DrainSchedule& view : views_) view.seal(slot_of(*filling_), has_records);
}

void Ring::advance_to(HourIndex hour) {
  seal_filling();
  for (DrainSchedule& view : views_) view.make_second_runs_due(hour);
  open(hour);
  show_states();
}

void Ring::end_filling() {
  if (filling_) advance_to(HourIndex(filling_->value + 1));
}

HourIndex Ring::admit(Offset offset, int64_t log_time_ms, const Staged& record) {
  BLOOMRING_CHECK(offset >= applied_, "records are admitted in the order of their offsets");
  const HourIndex hour = std::max(hour_of(std::max<int64_t>(log_time_ms, 0)), first_hour_);
  // No hour yet: open the first. A later hour: end the filling one. Any other: it joins the filling hour.
  if (!filling_) {
    open(hour);
    show_states();
  } else if (hour > *filling_) {
    advance_to(hour);
  }
  applied_ = Offset(offset.value + 1);
  StagedHour& staged = slot_at(*filling_).hours.back();
  staged.range = {hour_from_, applied_};
  staged.events += record.events;
  staged.bytes += record.bytes;
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

const StagedHour& Ring::staged_at(HourIndex hour) const {
  const std::vector<StagedHour>& hours = slots_[slot_of(hour).value].hours;
  const auto found = std::ranges::find(hours, hour, &StagedHour::hour);
  BLOOMRING_CHECK(found != hours.end(), "an hour that a view wants is on the ring");
  return *found;
}

std::vector<StagedHour> Ring::staged_of(const std::vector<HourIndex>& hours) const {
  std::vector<StagedHour> staged;
  for (const HourIndex hour : hours) staged.push_back(staged_at(hour));
  return staged;
}

std::optional<Drain> Ring::next_drain(const BatchesLog& batches, size_t view) {
  const auto due = views_[view].next(batches, next_drain_id_);
  if (!due) return std::nullopt;
  show_states();
  return Drain{next_drain_id_++, due->slot, due->attempt, staged_of(due->hours), staged_of(due->earlier)};
}

void Ring::drain_finished(uint64_t drain_id) {
  for (DrainSchedule& view : views_) view.finished(drain_id);
}

bool Ring::drain_current(uint64_t drain_id) const {
  return std::ranges::any_of(views_, [&](const DrainSchedule& view) { return view.current(drain_id); });
}

std::vector<HourIndex> Ring::merged(const MergedWatermark& watermark, size_t view) {
  // The filling hour stays, since more records may come.
  const auto covered = [&](HourIndex hour) { return hour != filling_ && watermark.covers(staged_at(hour).range); };
  views_[view].merged(covered);
  std::vector<HourIndex> released;
  const auto wanted = [&](const StagedHour& staged) {
    return std::ranges::any_of(
        views_, [&](const DrainSchedule& any) { return any.wants(staged.hour, slot_of(staged.hour)); });
  };
  for (SlotView& slot : slots_) {
    std::erase_if(slot.hours, [&](const StagedHour& staged) {
      if (wanted(staged)) return false;
      released.push_back(staged.hour);
      return true;
    });
  }
  show_states();
  std::sort(released.begin(), released.end());
  return released;
}

void Ring::show_states() {
  using enum SlotState;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const auto any = [&](SlotState state) {
      return std::ranges::any_of(views_, [&](const DrainSchedule& view) { return view.state(i) == state; });
    };
    slots_[i].state = kFree;
    for (const SlotState state : {kMerged, kSealed, kDraining, kFilling}) {
      if (any(state)) slots_[i].state = state;
    }
  }
}

WindowState Ring::state(uint32_t partition_count) const {
  WindowState state;
  state.applied = applied_;
  state.partition_count = partition_count;
  state.filling = filling_.value_or(HourIndex(0));
  state.slot_ms = config_.slot_ms;
  state.log_time_ms = noted_time_ms_;
  for (const SlotView& slot : slots_) state.hours.insert(state.hours.end(), slot.hours.begin(), slot.hours.end());
  std::sort(state.hours.begin(), state.hours.end(), [](const auto& a, const auto& b) { return a.hour < b.hour; });
  state.views.resize(views_.size());
  for (size_t v = 0; v < views_.size(); ++v) {
    for (const StagedHour& staged : state.hours) {
      state.views[v].hours.push_back({views_[v].drained_behind(staged.hour, slot_of(staged.hour))});
    }
  }
  return state;
}

std::vector<StagedHour> Ring::unmerged(size_t view) const {
  std::vector<StagedHour> hours;
  const auto wanted = [&](const StagedHour& staged) { return views_[view].wants(staged.hour, slot_of(staged.hour)); };
  for (const SlotView& slot : slots_) std::ranges::copy_if(slot.hours, std::back_inserter(hours), wanted);
  std::ranges::sort(hours, {}, &StagedHour::hour);
  return hours;
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
