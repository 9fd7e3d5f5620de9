// Latencies of calls, by method and status code. A slow call writes a debug line to the log.
// Threading: thread safe; called from gRPC's threads.
#pragma once

#include <array>
#include <atomic>

#include "base/metrics/metrics.h"
#include "serving/service/filter_service.h"

namespace bloomring {

class QueryLatency {
 public:
  // Makes the series for OK. The first call with another code makes its series.
  explicit QueryLatency(Metrics& metrics);
  void observe(Method method, const grpc::Status& status, double seconds);

 private:
  static constexpr size_t kCodes = 17;  // OK is 0, UNAUTHENTICATED 16.
  Histogram& series(Method method, grpc::StatusCode code);

  Metrics& metrics_;
  std::array<std::array<std::atomic<Histogram*>, kCodes>, kMethodCount> series_{};
};

}  // namespace bloomring
