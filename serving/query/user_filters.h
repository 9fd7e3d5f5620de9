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
  // The value, or why it cannot be read. Shared by the cache and the queries that use it, so that the cache can drop
  // it while a query still reads it.
  Result<std::shared_ptr<const filter::VerifiedValue>> value;
};

struct UserFilters {
  std::vector<PeriodIndex> periods;  // The periods asked for, newest first.
  std::vector<UserFilter> filters;   // The filters that exist, in that order.
  Offset merged;                     // The filters hold everything of the user below this offset.
  Forgotten forgotten = {};          // The forgets in the store; see ForgetView.
};

}  // namespace bloomring
