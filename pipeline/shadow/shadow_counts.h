// The counts and latencies of a comparison of two services, as its report and its metrics show them.
// Threading: values; SharedCounts is thread safe.
#pragma once

#include <cstdint>
#include <mutex>

#include "load/latency_histogram.h"
#include "pipeline/shadow/shadow_verdict.h"

namespace bloomring {

// False positives of filters, among candidates that the other service has not seen. Only the first query of each user
// counts: later ones ask for the same items again, and would count the same accident twice.
struct ShadowErrors {
  uint64_t asked = 0;
  uint64_t found = 0;
  double expected = 0;  // By the answers themselves, or by the rate of the old filters.
};

struct ShadowCounts {
  uint64_t compared = 0;    // Queries that both have answered completely.
  uint64_t refused = 0;     // Queries that are none.
  uint64_t dropped = 0;     // Copies for which the queue had no room.
  uint64_t unlike = 0;      // Queries for which the old store has no question: those of all scenes.
  uint64_t failed_old = 0;  // Queries to which no complete answer came...
  uint64_t failed_new = 0;
  uint64_t incomplete = 0;  // ...because the new service lacked a source.
  ShadowResults results{};  // Candidates of queries that were compared. kDoubt: those that are open.
  ShadowErrors new_errors;
  ShadowErrors old_errors;

  uint64_t of(ShadowResult result) const { return results[static_cast<size_t>(result)]; }
  void add(ShadowResult result, uint64_t count = 1) { results[static_cast<size_t>(result)] += count; }
};

struct ShadowLatency {
  LatencyHistogram old_ns, new_ns;  // Of answered questions.
};

// The counts as the thread that serves /metrics reads them.
class SharedCounts {
 public:
  void set(const ShadowCounts& counts) {
    const std::lock_guard lock(mutex_);
    counts_ = counts;
  }
  ShadowCounts get() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  ShadowCounts counts_;
};

}  // namespace bloomring
