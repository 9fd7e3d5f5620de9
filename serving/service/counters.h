// What the read side counts. Monotonic unless said; exported as metrics by the process (pipeline/). Thread safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "schemas/verdict.h"

namespace bloomring {

struct ServingCounters {
  std::atomic<uint64_t> requests{0};                           // Calls, and requests within batches, that have ended.
  std::atomic<uint64_t> candidates{0};                         // Asked about in answered requests.
  std::array<std::atomic<uint64_t>, kReasonCount> verdicts{};  // By Reason; sums to candidates.
  std::array<std::atomic<uint64_t>, 4> incomplete{};           // Answers with a gap, by AnswerSource.
  std::atomic<uint64_t> saturated{0};                          // Answers in which a filter was past its cap.
  std::atomic<uint64_t> complete_known{0};    // Complete answers about users of whom something is known...
  std::atomic<uint64_t> complete_unknown{0};  // ...and about others. About all scenes: once.
  std::atomic<uint64_t> relaxed{0};                            // Answers in which min_keep left something out.
  // Refusals, by status code.
  std::atomic<uint64_t> refused_invalid{0};      // INVALID_ARGUMENT.
  std::atomic<uint64_t> refused_unavailable{0};  // UNAVAILABLE: catching up, or not held here.
  std::atomic<uint64_t> refused_overload{0};     // RESOURCE_EXHAUSTED.
  std::atomic<uint64_t> refused_deadline{0};     // DEADLINE_EXCEEDED.
  std::atomic<uint64_t> refused_strict{0};       // FAILED_PRECONDITION.
  std::atomic<uint64_t> forwarded{0};            // Passed on to another replica and ended with its answer.
  std::atomic<uint64_t> forward_failed{0};       // Passed on, but no other replica could answer.
  std::atomic<int64_t> in_flight{0};             // A level, not a count.
};

}  // namespace bloomring
