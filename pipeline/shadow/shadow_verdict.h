// Judges one candidate that two services were asked about: a site's old store, and bloomring.
//
//                      new: seen                          new: unseen
//   old: seen          kSeen                              no play by ingest's rules: kRefused
//                                                         older than the window:     kExpired
//                                                         else a doubt --> asked again --> kSeenLate, kRemoved,
//                                                                          kForgotten, kOldError, kMissing
//   old: unseen        served:  kServed                   kUnseen
//                      a filter: kCut, kFalsePositive
//                      recent:  a doubt --> asked again --> kOldLate, kNotInOld
//
// A doubt may be a write on its way to one of the two. It is asked again after a while, twice, and of both; then it is
// what it is. Everything has an explanation but kMissing: the old store has a play, and the new one does not.
// Threading: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "client/filter_call.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/period.h"

namespace bloomring {

enum class ShadowResult : uint8_t {
  kSeen,           // Both.
  kUnseen,         // Neither.
  kDoubt,          // Asked again before it counts.
  kExpired,        // The old member is older than the window that queries read.
  kRefused,        // The old member is no play by the rules of ingest.
  kSeenLate,       // The new service saw it when it was asked again.
  kRemoved,        // The old store no longer has it.
  kForgotten,      // The user forgot it in the new service.
  kOldError,       // An old Bloom filter says seen: a false positive of it, as far as its error rate goes.
  kServed,         // The new service has it as served, the old store of plays does not.
  kOldLate,        // The old store had it when it was asked again.
  kNotInOld,       // The new service has the play itself, not only a filter; the old store lost or cut it.
  kCut,            // A filter of the new service has it, and the site cuts the set, which is full.
  kFalsePositive,  // A filter of the new service says seen.
  kUnsettled,      // A doubt when the command was stopped.
  kMissing,        // The old store has it, the new one does not.
};
inline constexpr size_t kShadowResultCount = 16;
std::string_view shadow_result_name(ShadowResult result);  // "seen", "unseen", "doubt", "expired", ...

using ShadowResults = std::array<uint64_t, kShadowResultCount>;  // The number of each.

// The answer of the old store about a candidate.
struct OldVerdict {
  bool seen = false;
  LegacyRefusal refusal = LegacyRefusal::kNone;  // Of a member of a set that is no play.
  int64_t time_ms = 0;                           // Of a play; 0 from a filter, which has no times.
};

struct ShadowRules {
  PeriodIndex oldest{0};    // Of the window that queries read...
  const Calendar& calendar;  // ...by this calendar.
  bool cut = false;          // The old set of the user is as large as its site lets it become.
};

// At the first question.
ShadowResult judge_first(const OldVerdict& old_verdict, const ItemVerdict& new_verdict, const ShadowRules& rules);
// Of a doubt that was asked again. `last`: it is not asked another time.
ShadowResult judge_again(const OldVerdict& old_verdict, const ItemVerdict& new_verdict, bool old_saw_first, bool last);
// Of what judge_again calls missing: with the facts that are asked for only then.
ShadowResult judge_missing(bool from_filter, bool forgotten);

}  // namespace bloomring
