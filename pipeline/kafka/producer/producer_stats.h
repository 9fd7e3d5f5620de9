// Counts of the records that a producer took. A value.
#pragma once

#include <cstdint>

namespace bloomring::kafka {

struct ProducerStats {
  int64_t in_flight = 0;  // Records taken and neither acknowledged nor failed.
  int64_t delivered = 0;
  int64_t failed = 0;
};

}  // namespace bloomring::kafka
