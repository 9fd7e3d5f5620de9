// The last quarter of an hour of a process in figures: records a second of each stage, freshness, and the calls of the
// query service. Kept in memory, for the operations page.
//
// A figure has a value for each step of 15 s, and one over the last minute. A step without an observation has none.
// Threading: `take` belongs to one thread; `report` is thread safe and waits for nothing but a copy.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics/bucket_counts.h"

namespace bloomring {

struct Trend {
  std::string figure;  // For programs: "records_per_second", "freshness_p99_seconds".
  std::string stage;   // Of records_per_second; else empty.
  std::string title;   // For people: "records a second of window".
  bool seconds = false;  // Otherwise it is a rate a second.
  std::optional<double> last_minute = std::nullopt;
  std::vector<std::optional<double>> points = {};  // Oldest first.

  std::optional<double> least() const;
  std::optional<double> most() const;
};

// The counts of a process since its start.
struct TrendSample {
  std::map<std::string, int64_t> records = {};  // Applied, by stage.
  BucketCounts freshness = {};  // As the next two: empty in a process that takes no calls.
  BucketCounts calls = {};      // All of them.
  BucketCounts filters = {};    // Those of Filter that succeeded.
};

class Trends {
 public:
  static constexpr int64_t kStepMs = 15'000;
  static constexpr size_t kSteps = 60;
  static constexpr int64_t kLastMs = 60'000;

  void take(int64_t now_ns, TrendSample sample);
  std::vector<Trend> report() const;

 private:
  struct Taken {
    int64_t at_ns;
    TrendSample sample;
  };
  mutable std::mutex mutex_;
  std::deque<Taken> steps_;  // Oldest first, a step apart.
  Taken newest_{};           // Of the last `take`.
};

}  // namespace bloomring
