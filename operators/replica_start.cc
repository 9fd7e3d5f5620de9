#include "operators/replica_start.h"

#include <algorithm>

namespace bloomring {
namespace {

// The first hour without merged records. The watermark's hour is that of the slot that moved it last; when that slot
// closed a gap, later hours were merged before it.
HourIndex hour_after_merged(const MergedWatermark& watermark) {
  const int64_t after = watermark.hour.value + 1;
  if (watermark.slot_ms == 0) return HourIndex(after);
  const int64_t merged_ms = watermark.merged_ms.value_or(0);
  return HourIndex(std::max(after, (merged_ms + watermark.slot_ms - 1) / watermark.slot_ms));
}

}  // namespace

Result<ReplicaStart> decide_replica_start(const ReplicaStartFacts& facts) {
  const auto& [watermark, log_start, log_end] = facts.log;
  const Offset merged = watermark ? watermark->offset : Offset(0);
  if (watermark) BLOOMRING_TRY(check_log_reaches(*watermark, log_end));
  ReplicaStart start;
  start.merged = std::max(merged, log_start);
  start.first_hour = watermark ? hour_after_merged(*watermark) : HourIndex(0);
  start.read_from = std::max(log_start, std::min(start.merged, facts.young.value_or(log_end)));
  start.lost_below = merged < log_start ? log_start : Offset(0);
  return start;
}

int64_t served_since_ms(const std::optional<MergedWatermark>& watermark, int64_t slot_ms, int64_t wall_ms,
                        int64_t age_max_ms) {
  const int64_t log_ms = watermark ? (watermark->hour.value + 1) * slot_ms : wall_ms;
  return std::max<int64_t>(0, std::min(wall_ms, log_ms) - age_max_ms);
}

}  // namespace bloomring
