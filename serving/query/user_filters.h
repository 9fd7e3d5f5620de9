// All filters of one user key in one window, as they were read from the filter store and verified. A value; copies
// share the bytes of the filters.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "filter/filter.h"
#include "schemas/forgotten.h"

namespace bloomring {

struct UserFilter {
  PeriodIndex period;
  // Or why it cannot be read. Shared by the cache and by each query that asks it, which therefore need not end before
  // the cache lets it go.
  Result<std::shared_ptr<const filter::VerifiedValue>> value;
};

struct UserFilters {
  std::vector<PeriodIndex> periods;  // That were asked for, newest first.
  std::vector<UserFilter> filters;   // Those that exist, in that order.
  Offset merged;                     // They hold everything of the user below this offset.
  Forgotten forgotten = {};          // What of them does not count.
};

}  // namespace bloomring
