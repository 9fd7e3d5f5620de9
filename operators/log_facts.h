// The facts about a partition's log when a stage starts to read it, with the filter store's watermark, and the check
// that every stage makes of them.
#pragma once

#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/watermark.h"

namespace bloomring {

struct LogFacts {
  std::optional<MergedWatermark> watermark;  // Of the filter store; absent before the first merge.
  Offset log_start;                          // First offset that the log still has.
  Offset log_end;                            // Offset of the next record to be written.
};

// The offset after the last merged record, including ranges merged beyond a gap.
Offset merged_end(const MergedWatermark& watermark);

// kRetry, with the numbers and the way out, where the log ends before `merged_end`: the offsets of the filter store
// mean nothing in such a log. Retry, because a broker that was frozen and resumes may answer with its older log for a
// moment.
Status check_log_reaches(const MergedWatermark& watermark, Offset log_end);

}  // namespace bloomring
