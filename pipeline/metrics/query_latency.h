// Latencies of calls, by method and status code. A call that took long is a debug line of the log.
// Thread safe: called from gRPC's threads.
#pragma once

#include <array>
#include <atomic>

#include "base/metrics/metrics.h"
#include "serving/service/filter_service.h"

namespace bloomring {

class QueryLatency {
 public:
  // Makes the series of calls that were answered; those of other codes come with their first call.
  explicit QueryLatency(Metrics& metrics);
  void observe(Method method, const grpc::Status& status, double seconds);

 private:
  static constexpr size_t kCodes = 17;  // OK is 0, UNAUTHENTICATED 16.
  Histogram& series(Method method, grpc::StatusCode code);

  Metrics& metrics_;
  std::array<std::array<std::atomic<Histogram*>, kCodes>, kMethodCount> series_{};
};

}  // namespace bloomring
