#include "load/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace bloomring {

LatencyHistogram::LatencyHistogram() : counts_(bucket_of(std::numeric_limits<uint64_t>::max()) + 1) {}

size_t LatencyHistogram::bucket_of(uint64_t value) {
  if (value < kSub) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
  return ((size_t{shift} + 1) << kSubBits) + ((value >> shift) - kSub);
}

uint64_t LatencyHistogram::last_of(size_t bucket) {
  if (bucket < kSub) return bucket;
  const auto shift = static_cast<unsigned>(bucket >> kSubBits) - 1;
  const uint64_t first = (kSub + (bucket & (kSub - 1))) << shift;
  return first + ((uint64_t{1} << shift) - 1);
}

void LatencyHistogram::record(uint64_t value) {
  ++counts_[bucket_of(value)];
  ++count_;
  max_ = std::max(max_, value);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

uint64_t LatencyHistogram::quantile(double part) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<uint64_t>(std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_)));
  uint64_t passed = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    passed += counts_[i];
    if (passed >= std::max<uint64_t>(1, wanted)) return std::min(last_of(i), max_);
  }
  return max_;
}

}  // namespace bloomring
