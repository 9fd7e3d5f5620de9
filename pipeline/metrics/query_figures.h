// The observations of queries and of freshness so far, from which the operations page makes its trends.
// Threading: as Metrics.
#pragma once

#include "base/metrics/bucket_counts.h"
#include "base/metrics/metrics.h"

namespace bloomring {

struct QueryFigures {
  BucketCounts freshness;  // From the write of an event to the log until queries see it.
  BucketCounts calls;      // Of every method, whatever their end.
  BucketCounts filters;    // Calls of Filter that succeeded.
};

QueryFigures query_figures(const Metrics& metrics);

}  // namespace bloomring
