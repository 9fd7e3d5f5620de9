#include "pipeline/metrics/query_figures.h"

#include <catch2/catch.hpp>

#include "pipeline/tasks/replica_metrics.h"
#include "serving/service/call_metrics.h"

using namespace bloomring;

TEST_CASE("query figures: every call counts, and the time of those of Filter that succeed") {
  Metrics metrics;
  metrics.histogram(metric::kQuerySeconds, {"Filter", "OK"}).observe(0.002);
  metrics.histogram(metric::kQuerySeconds, {"Filter", "UNAVAILABLE"}).observe(1);
  metrics.histogram(metric::kQuerySeconds, {"Forget", "OK"}).observe(1);
  metrics.histogram(metric::kEventToSeen).observe(0.05, 7);
  const QueryFigures figures = query_figures(metrics);
  CHECK(figures.calls.total() == 3);
  CHECK(figures.filters.total() == 1);
  CHECK(figures.freshness.total() == 7);
  CHECK(percentile({figures.freshness.ends, std::vector<uint64_t>(figures.freshness.counts.size())}, figures.freshness,
                   1) == 0.05);
}
