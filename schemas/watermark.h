// The merged watermark: per partition, "every event in the log below this offset is in the filter store". The filter
// store itself holds it. The merge stage writes it after everything that it covers is durable there; the window stage
// reads it to release slots and offsets, the serve stage to release recent plays.
//
// Slots are contiguous ranges of offsets, so the watermark is an offset plus the ranges that were merged after a slot
// that is still missing (a failed drain). Ranges are half-open; an empty range is always covered and adds nothing.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

struct MergedWatermark {
  Offset offset{0};                // Everything below is merged.
  HourIndex hour{0};               // The last hour whose slot end moved the watermark: no hour up to it fills again.
  std::vector<OffsetRange> ahead;  // Merged beyond a gap; sorted, none touches another or `offset`; at most kAheadMax.
  std::optional<int64_t> merged_ms = std::nullopt;  // Merged log time, positive; state/merged_time.h.
  int64_t slot_ms = 0;                              // Length of the hours that `hour` counts; 0: unknown.

  // At most two laps of slots can be merged beyond a gap; a range that does not fit is dropped (and merged again).
  static constexpr size_t kAheadMax = 64;

  // True when all of the range is merged.
  bool covers(OffsetRange range) const;
  // Notes that the range has been merged. The result covers what it covered before, and the range; `hour` becomes
  // `last_hour` where that is later and `offset` moved. False, and no change, when there was no place for the range.
  // The caller sets `merged_ms`.
  bool add(OffsetRange range, HourIndex last_hour);

  bool operator==(const MergedWatermark&) const = default;
};

// The watermark of a partition whose log was created again; `old` is that of the log before it. Nothing of the new log
// is merged, but filters hold plays of the old one. So hours continue where they ended, and merged log time stays: a
// stage that starts here knows that plays from before the new log's first record may be merged.
MergedWatermark of_new_log(const std::optional<MergedWatermark>& old);

// Bytes under watermark_key (schemas/store_key.h), in the pieces of schemas/pieces/bytes.h:
//   version:u8=3 partition_count:u32 offset:u64 hour:u64 merged_ms:u64 slot_ms:u64 ahead_count:u8
//   (from:u64 to:u64){ahead_count} sum:u64
// `merged_ms` is 0 while it is not known; version 1 did not have it, and versions 1 and 2 had no `slot_ms`. `sum` is
// XXH3 of everything before it, seeded with the hash of the key, so that the watermark of one partition never passes
// for another's. Decoding is strict: kCorrupt with the reason, and kInvalid when the stored partition count differs
// from the given one (the topics were re-partitioned: the message says what to do).
std::string encode_watermark(const MergedWatermark& watermark, PartitionId partition, uint32_t partition_count);
Result<MergedWatermark> decode_watermark(std::string_view bytes, PartitionId partition, uint32_t partition_count);

}  // namespace bloomring
