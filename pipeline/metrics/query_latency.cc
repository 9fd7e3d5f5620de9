#include "pipeline/metrics/query_latency.h"

#include <algorithm>

#include "base/log.h"
#include "client/status_name.h"
#include "serving/service/call_metrics.h"

namespace bloomring {

namespace {
constexpr double kSlowSeconds = 0.1;
}

QueryLatency::QueryLatency(Metrics& metrics) : metrics_(metrics) {
  for (size_t method = 0; method < kMethodCount; ++method) series(static_cast<Method>(method), grpc::StatusCode::OK);
}

void QueryLatency::observe(Method method, const grpc::Status& status, double seconds) {
  series(method, status.error_code()).observe(seconds);
  if (seconds < kSlowSeconds) return;
  log_debug("a call took long", {{"stage", "serve"},
                                 {"method", method_name(method)},
                                 {"code", status_name(status.error_code())},
                                 {"milliseconds", static_cast<int64_t>(seconds * 1000)}});
}

// Two threads that come here first get the same series.
Histogram& QueryLatency::series(Method method, grpc::StatusCode code) {
  const size_t index = std::min(static_cast<size_t>(code), kCodes - 1);
  std::atomic<Histogram*>& known = series_[static_cast<size_t>(method)][index];
  Histogram* found = known.load(std::memory_order_acquire);
  if (found == nullptr) {
    found = &metrics_.histogram(metric::kQuerySeconds, {method_name(method), status_name(code)});
    known.store(found, std::memory_order_release);
  }
  return *found;
}

}  // namespace bloomring
