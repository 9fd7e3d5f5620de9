// The loop of a comparison: takes queries at a rate, compares them, asks about doubts when they are due, and ends when
// the source has ended and no doubt is open, when it is told to stop, or after a time.
//
// At the end by a stop or a time, each open doubt is asked about once more, as long as both services answer.
// Errors: those of the comparer and the source. A service that does not answer is no error: it is counted.
// Threading: one thread.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/shadow/query_source.h"
#include "pipeline/shadow/shadow_comparer.h"

namespace bloomring {

struct ShadowRunConfig {
  double rate = 100;     // Queries a second.
  int64_t end_ms = 0;    // After this time; 0: never.
};

struct ShadowRunParts {
  const Clock& clock;
  QuerySource& source;
  ShadowComparer& comparer;
  std::function<bool(int64_t wait_ns)> wait_or_stop;  // Waits for this time; true: end now.
  std::function<void(const ShadowCounts&)> show = {};  // After each turn.
};

struct ShadowEnd {
  ShadowCounts counts;
  double seconds = 0;
  bool stopped = false;  // Before the end of the source.
};

Result<ShadowEnd> run_shadow(const ShadowRunConfig& config, const ShadowRunParts& parts);

}  // namespace bloomring
