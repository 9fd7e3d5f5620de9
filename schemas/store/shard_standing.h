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
// Covers only offsets that a and b cover. Ranges ahead may be left out: they are merged again.
std::optional<MergedWatermark> least(const std::optional<MergedWatermark>& a, const std::optional<MergedWatermark>& b);
// Covers all offsets that a or b covers, and more when the ranges ahead do not fit: a reader then waits for more.
MergedWatermark most(const MergedWatermark& a, const MergedWatermark& b);

// A writer finds one of these instead of the state that it knows.
enum class ShardStanding : uint8_t {
  kOurs,      // Its own write, of which it did not see the answer.
  kTaken,     // A later writer has taken the partition over.
  kWentBack,  // The server has lost writes.
};
ShardStanding judge_shard(const std::optional<ShardState>& found, const ShardState& known);

}  // namespace bloomring
