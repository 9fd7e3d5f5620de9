#include "schemas/verdict.h"

#include <algorithm>

namespace bloomring {

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::kNone: return "unseen";
    case Reason::kClient: return "client";
    case Reason::kServed: return "served";
    case Reason::kRecent: return "recent";
    case Reason::kFilter: return "filter";
  }
  return "unknown";
}

std::string_view source_name(AnswerSource source) {
  switch (source) {
    case AnswerSource::kRecent: return "recent";
    case AnswerSource::kServed: return "served";
    case AnswerSource::kFilters: return "filters";
  }
  return "unknown";
}

Verdict FilterAnswer::verdict(size_t candidate) const {
  const auto found = std::ranges::lower_bound(verdicts, candidate, {}, &CandidateVerdict::candidate);
  return found == verdicts.end() || found->candidate != candidate ? Verdict{} : found->verdict;
}

}  // namespace bloomring
