#include "pipeline/shadow/shadow_verdict.h"

namespace bloomring {

std::string_view shadow_result_name(ShadowResult result) {
  static constexpr std::string_view kNames[kShadowResultCount] = {
      "seen",   "unseen",   "doubt",      "expired", "refused",        "seen_late", "removed", "forgotten", "old_error",
      "served", "old_late", "not_in_old", "cut",     "false_positive", "unsettled", "missing"};
  return kNames[static_cast<size_t>(result)];
}

ShadowResult judge_first(const OldVerdict& old_verdict, const ItemVerdict& new_verdict, const ShadowRules& rules) {
  if (old_verdict.seen && new_verdict.seen) return ShadowResult::kSeen;
  if (!old_verdict.seen && !new_verdict.seen) return ShadowResult::kUnseen;
  if (old_verdict.seen) {
    if (old_verdict.refusal != LegacyRefusal::kNone) return ShadowResult::kRefused;
    const bool timed = old_verdict.time_ms != 0;
    if (timed && rules.calendar.period_of_ms(old_verdict.time_ms) < rules.oldest) return ShadowResult::kExpired;
    return ShadowResult::kDoubt;
  }
  if (new_verdict.reason == Reason::kServed) return ShadowResult::kServed;
  if (new_verdict.reason == Reason::kRecent) return ShadowResult::kDoubt;
  return rules.cut ? ShadowResult::kCut : ShadowResult::kFalsePositive;
}

ShadowResult judge_again(const OldVerdict& old_verdict, const ItemVerdict& new_verdict, bool old_saw_first, bool last) {
  if (old_saw_first) {
    if (new_verdict.seen) return ShadowResult::kSeenLate;
    if (!old_verdict.seen) return ShadowResult::kRemoved;
    return last ? ShadowResult::kMissing : ShadowResult::kDoubt;
  }
  if (old_verdict.seen) return ShadowResult::kOldLate;
  if (!new_verdict.seen) return ShadowResult::kForgotten;
  return last ? ShadowResult::kNotInOld : ShadowResult::kDoubt;
}

ShadowResult judge_missing(bool from_filter, bool forgotten) {
  if (forgotten) return ShadowResult::kForgotten;
  return from_filter ? ShadowResult::kOldError : ShadowResult::kMissing;
}

}  // namespace bloomring
