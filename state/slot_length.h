// The length of slots belongs to what is stored: hours are numbered by it. Where another one is configured, an hour
// would be decades ahead or behind, so whoever starts with what was stored asks here first. Thread safety: pure
// functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "schemas/watermark.h"

namespace bloomring {

// kInvalid with both values and the way out when `stored_ms`, of `where`, is not the configured one. 0, of what was
// stored before the length was stored with it, is any.
Status check_slot_length(int64_t stored_ms, int64_t configured_ms, std::string_view where);

// The watermark of a partition as it is with slots of another length: its hours end where they ended. kInvalid, saying
// what is missing, unless the length is known that it was written with and everything below `log_end` is merged: hours
// that are under way have old numbers.
Result<MergedWatermark> with_slot_length(const MergedWatermark& watermark, int64_t slot_ms, Offset log_end);

}  // namespace bloomring
