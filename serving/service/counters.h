// Counters of the read side and its gate. Monotonic unless noted. Metrics show each (serving/service/call_metrics.cc).
// Threading: thread safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "schemas/verdict.h"
#include "serving/admission/call_gate.h"
#include "serving/legacy/read_through.h"

namespace bloomring {

struct ServingCounters : CallGateCounters, ReadThroughCounters {
  std::atomic<uint64_t> requests{0};                           // Calls, and requests within batches, that have ended.
  std::array<std::atomic<uint64_t>, kReasonCount> verdicts{};  // Of candidates in answered requests, by Reason.
  std::array<std::atomic<uint64_t>, 4> incomplete{};           // Answers with a gap, by AnswerSource.
  std::atomic<uint64_t> saturated{0};                          // Answers in which a filter was past its cap.
  std::atomic<uint64_t> complete_known{0};    // Complete answers about users with any known event...
  std::atomic<uint64_t> complete_unknown{0};  // ...and about others. About all scenes: once.
  std::atomic<uint64_t> relaxed{0};                            // Answers in which min_keep left out a source.
  // Refusals, by status code.
  std::atomic<uint64_t> refused_invalid{0};      // INVALID_ARGUMENT.
  std::atomic<uint64_t> refused_unavailable{0};  // UNAVAILABLE: catching up, or not held here.
  std::atomic<uint64_t> refused_overload{0};     // RESOURCE_EXHAUSTED.
  std::atomic<uint64_t> refused_deadline{0};     // DEADLINE_EXCEEDED.
  std::atomic<uint64_t> refused_strict{0};       // FAILED_PRECONDITION.
  std::atomic<uint64_t> refused_permission{0};   // PERMISSION_DENIED.
  std::atomic<uint64_t> forwarded{0};            // Forwarded to another replica and answered by it.
  std::atomic<uint64_t> forward_failed{0};       // Forwarded, but no other replica could answer.
};

}  // namespace bloomring
