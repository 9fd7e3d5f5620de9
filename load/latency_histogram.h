// Counts latencies for load tests, in little memory and with a bounded relative error.
//
// Buckets are linear within each power of two (as in HdrHistogram): 128 of them, so a quantile is at most 1/128 = 0.8
// % above the recorded value. Values below 128 are exact. It takes 60 KB for any range: every 64-bit value has a
// bucket.
// Threading: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bloomring {

class LatencyHistogram {
 public:
  LatencyHistogram();

  void record(uint64_t value);
  void add(const LatencyHistogram& other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  // The smallest value that at least `part` of the recorded ones do not exceed, rounded up to the end of its bucket and
  // never above the greatest recorded. `part` in [0, 1]; 0 when nothing was recorded.
  uint64_t quantile(double part) const;

 private:
  static constexpr unsigned kSubBits = 7;
  static constexpr uint64_t kSub = uint64_t{1} << kSubBits;

  static size_t bucket_of(uint64_t value);
  static uint64_t last_of(size_t bucket);

  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  uint64_t max_ = 0;
};

}  // namespace bloomring
