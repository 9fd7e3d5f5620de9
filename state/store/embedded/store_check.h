// Checks every row of an embedded filter store. Included by sources of this folder only.
#pragma once

#include "base/result.h"
#include "state/store/embedded/filter_rows.h"
#include "state/store/store_admin.h"

namespace bloomring {

// Continues after damaged rows. kCorrupt or kFatal when the rest of the files cannot be read.
Result<StoreCheck> check_rows(const FilterRows& rows, uint32_t partition_count, const StoreCheckProgress& progress);

}  // namespace bloomring
