#include "pipeline/status/ring_status.h"

#include <algorithm>

namespace bloomring {

RingStatus ring_status(const Ring& ring, std::optional<Offset> merged) {
  RingStatus status{ring.config().slot_ms, merged, ring.applied()};
  for (const Ring::SlotView& slot : ring.slots()) status.slots.push_back({slot.state, slot.hours});
  return status;
}

RingStatus ring_status(const RingConfig& config, const std::optional<WindowState>& state,
                       std::optional<Offset> merged) {
  RingStatus status{config.slot_ms, merged};
  if (!state) return status;
  status.applied = state->applied;
  status.slots.resize(config.slots);
  const Ring names_slots(config, Offset(0));
  for (const StagedHour& staged : state->hours) {
    SlotStatus& slot = status.slots[names_slots.slot_of(staged.hour).value];
    slot.state = staged.hour == state->filling ? SlotState::kFilling : SlotState::kSealed;
    slot.hours.push_back(staged);
  }
  return status;
}

std::optional<int64_t> oldest_unmerged_ms(const RingStatus& ring) {
  std::optional<int64_t> oldest;
  for (const SlotStatus& slot : ring.slots) {
    if (slot.state != SlotState::kSealed && slot.state != SlotState::kDraining) continue;
    const int64_t began_ms = slot.hours.front().hour.value * ring.slot_ms;
    oldest = std::min(oldest.value_or(began_ms), began_ms);
  }
  return oldest;
}

}  // namespace bloomring
