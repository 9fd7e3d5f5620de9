// The slot length numbers the hours, so it is part of the stored state. Under another length a stored hour would be
// decades ahead or behind. So a stage checks the length here before it uses stored state.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "schemas/watermark.h"

namespace bloomring {

// kInvalid, with both values and the way out, when `stored_ms`, found in `where`, is not the configured length. 0, from
// state of a version that stored no length, matches any.
Status check_slot_length(int64_t stored_ms, int64_t configured_ms, std::string_view where);

// The watermark of a partition for slots of another length. Its hour ends where it ended, rounded up to a whole new
// hour. kInvalid, naming the missing condition, unless its old length is known and everything below `log_end` is
// merged: unmerged hours have old numbers.
Result<MergedWatermark> with_slot_length(const MergedWatermark& watermark, int64_t slot_ms, Offset log_end);

}  // namespace bloomring
