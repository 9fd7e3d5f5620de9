#include "schemas/store/shard_standing.h"

#include <algorithm>

namespace bloomring {

bool covers_all(const std::optional<MergedWatermark>& mark, const std::optional<MergedWatermark>& watermark) {
  if (!watermark) return true;
  if (!mark || mark->offset < watermark->offset) return false;
  return std::ranges::all_of(watermark->ahead, [&](const OffsetRange& range) { return mark->covers(range); });
}

std::optional<MergedWatermark> least(const std::optional<MergedWatermark>& a, const std::optional<MergedWatermark>& b) {
  if (!a || !b) return std::nullopt;
  if (covers_all(*a, *b)) return b;
  if (covers_all(*b, *a)) return a;
  // Neither is older: ranges ahead that only one of them has are merged again.
  MergedWatermark both = a->offset < b->offset ? *a : *b;
  both.ahead.clear();
  both.hour = std::min(a->hour, b->hour);
  both.merged_ms = std::min(a->merged_ms, b->merged_ms);
  return both;
}

MergedWatermark most(const MergedWatermark& a, const MergedWatermark& b) {
  if (covers_all(a, b)) return a;
  if (covers_all(b, a)) return b;
  const MergedWatermark& further = a.offset < b.offset ? b : a;
  const MergedWatermark& other = a.offset < b.offset ? a : b;
  MergedWatermark both = further;
  for (const OffsetRange& range : other.ahead) {
    if (both.add(range, both.hour)) continue;
    // No place: everything up to there counts as covered. A reader then waits for more, never for less.
    both.add({both.offset, range.to}, both.hour);
  }
  return both;
}

ShardStanding judge_shard(const std::optional<ShardState>& found, const ShardState& known) {
  if (!found || found->writer < known.writer) return ShardStanding::kWentBack;
  if (found->writer > known.writer) return ShardStanding::kTaken;
  const bool has_all = found->writes >= known.writes && covers_all(found->mark, known.mark);
  return has_all ? ShardStanding::kOurs : ShardStanding::kWentBack;
}

}  // namespace bloomring
