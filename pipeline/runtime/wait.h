// Waiting for a condition with a bound: the one place where a thread of ours lets time pass without work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace bloomring {

// Asks `met` about fifty times a second until it says true (ok), fails (its failure), or `bound_ms` have passed:
// kFatal, "waited 60 s in vain for <what>".
Status wait_until(const Clock& clock, int64_t bound_ms, const std::string& what,
                  const std::function<Result<bool>()>& met);

}  // namespace bloomring
