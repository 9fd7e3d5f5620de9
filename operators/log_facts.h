// What is known of a partition's log when a stage starts to read it, beside what the filter store says of it; and the
// one judgement that every stage makes of them in the same way.
#pragma once

#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/watermark.h"

namespace bloomring {

struct LogFacts {
  std::optional<MergedWatermark> watermark;  // Of the filter store; nothing where nothing was ever merged.
  Offset log_start;                          // First offset that the log still has.
  Offset log_end;                            // Offset of the next record to be written.
};

// Behind the last record that is merged, those beyond a gap with them.
Offset merged_end(const MergedWatermark& watermark);

// kRetry, with the numbers and the way out, where the log ends before what is merged: the offsets of the filter store
// mean nothing in such a log. Retry, because a broker that stood still and goes on may say so of its older log for a
// moment.
Status check_log_reaches(const MergedWatermark& watermark, Offset log_end);

}  // namespace bloomring
