// The place in the log of a record that Producer::write wrote, and the callback that gets it. Values.
#pragma once

#include <cstdint>
#include <functional>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring::kafka {

struct WrittenPlace {
  Offset offset;
  int64_t log_time_ms = 0;
};
using Written = std::function<void(Result<WrittenPlace> place)>;

}  // namespace bloomring::kafka
