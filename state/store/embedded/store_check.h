// A look at every row of an embedded filter store. Included by sources of this folder only.
#pragma once

#include "state/store/embedded/filter_rows.h"
#include "state/store/embedded/store_backup.h"

namespace bloomring {

// Goes on where rows are damaged. kCorrupt or kFatal when the files cannot be read on.
Result<StoreCheck> check_rows(const FilterRows& rows, uint32_t partition_count, const StoreCheckProgress& progress);

}  // namespace bloomring
