// The items that a user has forgotten, as the service and the filter store tell them.
//
// The service tells single items that a filter no longer counts for (schemas/snapshot.h); the filter store also tells
// when everything was forgotten, once the forget is merged. A forget of everything that is not merged yet is told by
// neither.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "schemas/forgotten.h"
#include "schemas/snapshot.h"
#include "state/period.h"

namespace bloomring {

// The item's plays of this time do not count. `time_ms` 0: of some time.
bool is_forgotten(const Snapshot& snapshot, const Calendar& calendar, ItemHash item, int64_t time_ms);
bool is_forgotten(const Forgotten& forgotten, ItemHash item, int64_t time_ms);

}  // namespace bloomring
