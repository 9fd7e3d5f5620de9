// Whether a filter store, by its description of itself, is of the configured partitions and periods.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "schemas/store/store_meta.h"
#include "state/period.h"

namespace bloomring {

// The description of a store for the calendar's filters.
StoreMeta store_meta(uint32_t partition_count, const Calendar& calendar, uint64_t import_id = 0);

// kInvalid, with the way out, when the store is of another partition count, period or time zone, and when an import
// into it has not ended that is not the configured one.
Status compare_store_meta(const StoreMeta& stored, const StoreMeta& configured);
// The same for the stored bytes; kCorrupt when they are not a description, kInvalid when their format is newer.
Status check_store_meta(std::string_view bytes, const StoreMeta& configured);

}  // namespace bloomring
