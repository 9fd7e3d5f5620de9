// Blocks that are known by their offset, and the window state that belongs to an applied offset, so that a window store
// can be checked in full after the process that wrote it was killed. An hour has kBlocksPerHour offsets; kHoursStaged
// hours are staged, the filling one included, older ones are released.
#pragma once

#include <algorithm>
#include <string>

#include "base/hash.h"
#include "state/window/window_store.h"

namespace bloomring::testing {

inline constexpr uint32_t kBlocksPartitionCount = 4;
inline constexpr int64_t kBlocksPerHour = 37;
inline constexpr int64_t kHoursStaged = 3;

inline HourIndex numbered_hour(Offset offset) { return HourIndex(offset.value / kBlocksPerHour); }

inline std::string numbered_block(Offset offset) {
  const uint64_t bits = hash_bytes(std::to_string(offset.value), 1);
  return std::string(1000 + bits % 40000, static_cast<char>(bits >> 32));
}

// The state when every offset below `applied` has been staged.
inline WindowState numbered_state(Offset applied) {
  WindowState state;
  state.partition_count = kBlocksPartitionCount;
  state.applied = applied;
  state.filling = numbered_hour(Offset(applied.value - 1));
  for (int64_t h = std::max<int64_t>(0, state.filling.value - kHoursStaged + 1); h <= state.filling.value; ++h) {
    StagedHour staged;
    staged.hour = HourIndex(h);
    staged.range = {Offset(h * kBlocksPerHour), Offset(std::min((h + 1) * kBlocksPerHour, applied.value))};
    state.hours.push_back(staged);
  }
  return state;
}

// The state at the end of an hour, when the oldest one has been released.
inline WindowState released_state(Offset applied) {
  WindowState state = numbered_state(applied);
  state.hours.erase(state.hours.begin());
  return state;
}

}  // namespace bloomring::testing
