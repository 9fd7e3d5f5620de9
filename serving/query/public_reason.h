// A failure as callers of the service may see it.
//
// Guarantees: no path, no key of a store, no name of a broker and no id of a user leaves the replica in a gap or in the
// text of a status. The log has the whole failure, at growing intervals: the first one of each code, then the second,
// the fourth, the eighth and so on, with their count.
// Threading: thread safe.
#pragma once

#include <string>

#include "base/result.h"

namespace bloomring {

// "does not answer now", "is damaged", or "failed; the log of the replica has the reason".
std::string public_reason(const Status& failure);

}  // namespace bloomring
