#include "base/metrics/bucket_counts.h"

#include <numeric>

namespace bloomring {

uint64_t BucketCounts::total() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

std::optional<uint64_t> observed(const BucketCounts& before, const BucketCounts& after) {
  if (after.counts.empty() || before.counts.size() != after.counts.size()) return std::nullopt;
  for (size_t i = 0; i < after.counts.size(); ++i) {
    if (after.counts[i] < before.counts[i]) return std::nullopt;
  }
  return after.total() - before.total();
}

std::optional<double> percentile(const BucketCounts& before, const BucketCounts& after, double share) {
  const std::optional<uint64_t> all = observed(before, after);
  if (all.value_or(0) == 0) return std::nullopt;
  const double rank = share * static_cast<double>(*all);
  double below = 0;
  for (size_t i = 0; i < after.ends.size(); ++i) {
    const auto here = static_cast<double>(after.counts[i] - before.counts[i]);
    if (here > 0 && below + here >= rank) {
      const double from = i == 0 ? 0 : after.ends[i - 1];
      return from + (after.ends[i] - from) * (rank - below) / here;
    }
    below += here;
  }
  return after.ends.back();
}

}  // namespace bloomring
