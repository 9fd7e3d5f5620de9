// Watermarks for tests of the records that contain them.
#pragma once

#include <utility>
#include <vector>

#include "schemas/watermark.h"

namespace bloomring::testing {

inline MergedWatermark merged(int64_t offset, std::vector<OffsetRange> ahead = {}) {
  MergedWatermark watermark;
  watermark.offset = Offset(offset);
  watermark.hour = HourIndex(offset / 10);
  watermark.merged_ms = 1000 + offset;
  watermark.ahead = std::move(ahead);
  return watermark;
}

inline OffsetRange range(int64_t from, int64_t to) { return {Offset(from), Offset(to)}; }

}  // namespace bloomring::testing
