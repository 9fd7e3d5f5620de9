// All filters of one user key in one window, as they were read from the filter store. A value.
#pragma once

#include <cstddef>
#include <vector>

#include "base/ids.h"
#include "state/filter_store.h"

namespace bloomring {

struct UserFilters {
  std::vector<PeriodIndex> periods;   // That were asked for, newest first.
  std::vector<StoredFilter> filters;  // Those that exist, in that order.
  Offset merged;                      // They hold everything of the user below this offset.
  Forgotten forgotten = {};           // What of them does not count.
};

}  // namespace bloomring
