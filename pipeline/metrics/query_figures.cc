#include "pipeline/metrics/query_figures.h"

#include "pipeline/tasks/replica_metrics.h"
#include "serving/service/call_metrics.h"

namespace bloomring {

QueryFigures query_figures(const Metrics& metrics) {
  return {.freshness = metrics.bucket_counts(metric::kEventToSeen),
          .calls = metrics.bucket_counts(metric::kQuerySeconds, {"", ""}),
          .filters = metrics.bucket_counts(metric::kQuerySeconds, {"Filter", "OK"})};
}

}  // namespace bloomring
