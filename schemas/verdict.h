// The answer of the query core: a verdict for each candidate, and the sources of the answer. Values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace bloomring {

// Why a candidate counts as seen; the first in this order where several hold.
enum class Reason : uint8_t {
  kNone = 0,    // Not seen.
  kClient = 1,  // In the request's own list.
  kServed = 2,  // Among the last served.
  kRecent = 3,  // Played since the last merge, or within the last lap.
  kFilter = 4,  // In the filter of a period.
};
inline constexpr size_t kReasonCount = 5;
std::string_view reason_name(Reason reason);  // "unseen", "client", "served", "recent", "filter".

enum class AnswerSource : uint8_t { kRecent = 1, kServed = 2, kFilters = 3 };
std::string_view source_name(AnswerSource source);  // "recent", "served", "filters".

struct Verdict {
  Reason reason = Reason::kNone;
  uint8_t period = 0;  // With kFilter: an index into FilterAnswer::periods.
  bool seen = false;   // False with a reason: brought back by `min_keep`.
};

// A candidate that has a reason. Most have none, so an answer lists only these.
struct CandidateVerdict {
  uint32_t candidate = 0;
  Verdict verdict;
};

// A source that is missing from the answer, or behind.
struct Gap {
  AnswerSource source = AnswerSource::kFilters;
  std::string reason;  // For people: "filter store: connection refused".
  int64_t lag_ms = 0;  // How far behind, when that is the gap.
};

// A source that was left out because too few candidates were unseen.
struct Relaxed {
  AnswerSource source = AnswerSource::kFilters;  // kFilters: a period, with its recent plays; kServed: the last served.
  PeriodIndex period{0};
};

struct FilterAnswer {
  size_t candidates = 0;                   // Number of candidates in the question.
  std::vector<CandidateVerdict> verdicts;  // Those that have a reason, in order.
  size_t seen_count = 0;
  std::vector<PeriodIndex> periods;  // The window, newest first.
  std::vector<Gap> gaps;
  std::vector<Relaxed> relaxed;
  bool user_known = false;
  double expected_error = 0.0;  // Probability that an item that was never played counts as seen.
  bool saturated = false;       // A filter that was read is past its cap: the error budget is not held.

  bool complete() const { return gaps.empty(); }
  Verdict verdict(size_t candidate) const;
};

}  // namespace bloomring
