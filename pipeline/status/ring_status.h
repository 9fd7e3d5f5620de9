// The ring of a partition for a person or a page: its slots with their states, and how far it is merged. From the
// running window stage, or from the local state that it last wrote.
// Threading: values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "state/window/ring.h"
#include "state/window/window_store.h"

namespace bloomring {

struct SlotStatus {
  SlotState state = SlotState::kFree;
  std::vector<StagedHour> hours = {};  // Oldest first.
};

struct RingStatus {
  int64_t slot_ms = 0;
  std::optional<Offset> merged = std::nullopt;   // The merged watermark's; nothing before the first.
  std::optional<Offset> applied = std::nullopt;  // Nothing where there is no local state to look at.
  std::vector<SlotStatus> slots = {};            // By index; empty where there is no local state.
};

RingStatus ring_status(const Ring& ring, std::optional<Offset> merged);

// Of stored state, which knows neither drains nor merged slots: a slot is free, filling or sealed. Without `state`
// there is none on this machine.
RingStatus ring_status(const RingConfig& config, const std::optional<WindowState>& state,
                       std::optional<Offset> merged);

// When the oldest slot began that is sealed and not merged, in ms of log time; nothing when there is none.
std::optional<int64_t> oldest_unmerged_ms(const RingStatus& ring);

}  // namespace bloomring
