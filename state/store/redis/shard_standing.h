// Compares the states of shards (schemas/store/shard_state.h): which of two marks covers the other, and whether a
// writer may go on.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "schemas/store/shard_state.h"
#include "schemas/watermark.h"

namespace bloomring {

// True when the mark covers all that the watermark covers.
bool covers_all(const std::optional<MergedWatermark>& mark, const std::optional<MergedWatermark>& watermark);
// The offsets that both cover.
std::optional<MergedWatermark> least(const std::optional<MergedWatermark>& a, const std::optional<MergedWatermark>& b);
// All offsets that a or b covers.
MergedWatermark most(const MergedWatermark& a, const MergedWatermark& b);

// A writer finds one of these instead of the state that it knows.
enum class ShardStanding : uint8_t {
  kOurs,      // Its own write, of which it did not see the answer.
  kTaken,     // A later writer has taken the partition over.
  kWentBack,  // The server has lost writes.
};
ShardStanding judge_shard(const std::optional<ShardState>& found, const ShardState& known);

}  // namespace bloomring
