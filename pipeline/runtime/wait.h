// Waiting for a condition with a bound: the one place where a thread of ours sleeps.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace bloomring {

// Calls `met` about fifty times a second. Returns ok when it returns true, its status when it fails, and kFatal,
// "waited 60 s in vain for <what>", when `bound_ms` have passed.
Status wait_until(const Clock& clock, int64_t bound_ms, const std::string& what,
                  const std::function<Result<bool>()>& met);

}  // namespace bloomring
