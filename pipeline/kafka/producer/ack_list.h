// Internal to pipeline/kafka: the acknowledgements that the producer's drain thread leaves for a sink.
//
// Threading: thread safe. The sink and its records in flight share it; the last one frees it.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"

namespace bloomring::kafka {

class AckList {
 public:
  // `broker_time_ms`: the newest timestamp that brokers gave these records, 0 for none.
  void add(std::span<const uint64_t> tickets, int64_t broker_time_ms);
  // Keeps the first failure.
  void fail(Status failure);
  // Appends the tickets added since the last call, and sets the newest of their times. Returns the failure, if there
  // was one.
  Status take(std::vector<uint64_t>& tickets, int64_t& broker_time_ms);

 private:
  std::mutex mutex_;
  std::vector<uint64_t> tickets_;  // Guarded by mutex_.
  int64_t broker_time_ms_ = 0;     // Guarded by mutex_.
  Status failure_;                 // Guarded by mutex_.
};

}  // namespace bloomring::kafka
