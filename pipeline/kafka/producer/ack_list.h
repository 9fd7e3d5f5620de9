// Internal to pipeline/kafka: where the producer's drain thread leaves a sink's acknowledgements.
//
// Threading: thread safe. Shared by the sink and its records in flight, whoever goes last.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"

namespace bloomring::kafka {

class AckList {
 public:
  // `broker_time_ms`: the newest time that brokers stamped these records with, 0 for none.
  void add(std::span<const uint64_t> tickets, int64_t broker_time_ms);
  // The first failure stays.
  void fail(Status failure);
  // Appends what was added since the last call, and tells the newest of its times. Returns the failure, if there was
  // one.
  Status take(std::vector<uint64_t>& tickets, int64_t& broker_time_ms);

 private:
  std::mutex mutex_;
  std::vector<uint64_t> tickets_;  // Guarded by mutex_.
  int64_t broker_time_ms_ = 0;     // Guarded by mutex_.
  Status failure_;                 // Guarded by mutex_.
};

}  // namespace bloomring::kafka
