// The observations of a histogram by bucket, and percentiles of those between two looks at it.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomring {

struct BucketCounts {
  std::span<const double> ends = {};  // Upper ends, ascending; of the declaration, which outlives this.
  // One more than there are ends: the last counts what is above them. Empty: nobody looked.
  std::vector<uint64_t> counts = {};

  uint64_t total() const;
};

// The number of observations from one look to a later one; nothing where one of them is empty or they do not belong
// together.
std::optional<uint64_t> observed(const BucketCounts& before, const BucketCounts& after);

// The value below which `share` of these observations lie, in (0, 1], as PromQL's histogram_quantile computes it: even
// within a bucket, and the last end for what is above it. Nothing without an observation.
std::optional<double> percentile(const BucketCounts& before, const BucketCounts& after, double share);

}  // namespace bloomring
