// The rule of forgetting, for the stages and the queries alike: when a forget is late, how far it reaches in filters,
// and which filters count.
//
// Plays and serves are judged by their own times: they count when they happened after every forget of their item and of
// everything (schemas/forget.h). A filter has no times, so a forget hides whole periods of it. Two laws bound this:
//
//   no play after a forget may become unseen    (or a user would see a video again)
//   no play before it may stay seen             as far as the first law allows
//
// A filter may hold a play after the forget in two cases, and then the forget reaches only to the beginning of its
// period:
//
//   late    a play after the forget may be in an hour before the forget's own, and may have been merged without it
//   passed  records that were logged after the forget are merged already (the store went back to a backup)
//
//   case                           plays and serves of the target     filters of earlier periods   filter of its period
//   on time                        count after the forget's time      hidden                       hidden, see below
//   late or passed                 count after the forget's time      hidden                       counts
//
// The filter of a forget's own period counts for an item again when the store knows of a play of the item after the
// forget, and for everything when the store had the forget when it was read: it removed the filter
// then, so a filter that it has now holds later plays only.
//
// The window and each replica keep facts that bound "late" (docs/decisions/0054-the-bound-of-late-is-kept-twice.md).
// Guarantees: the first law above holds for every forget, the second for one that is neither late nor passed. Neither
// depends on the order in which a store and a query learn of plays and forgets.
// Errors: none; every time and offset has an answer.
// Threading: pure functions.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "schemas/forget.h"
#include "state/period.h"

namespace bloomring::forget_rule {

// Late in an hour below whose first offset a play of `newest_play_below_ms` may lie; 0: none does.
constexpr bool is_late(int64_t forget_ms, int64_t newest_play_below_ms) { return forget_ms < newest_play_below_ms; }
// A forget by call is on time when it was logged in the slot in which it happened, whatever plays there are.
constexpr bool is_logged_late(int64_t forget_ms, int64_t log_time_ms, int64_t slot_ms) {
  return log_time_ms / slot_ms > forget_ms / slot_ms;
}
// Records that were logged after the forget are merged: below `merged_end`, the end of the last merged range.
constexpr bool is_passed(Offset forget_offset, Offset merged_end) { return merged_end > forget_offset; }

// The time up to which a forget reaches in filters.
int64_t reach_ms(const Forget& forget, bool passed, const Calendar& calendar);

// The last period whose filter the forget of an item hides. `played_ms`: the latest play of the item after a forget
// that the store knows of; 0: none.
PeriodIndex hidden_through(int64_t reach_ms, int64_t played_ms, const Calendar& calendar);
// The last period whose filter a forget of everything hides. `stored`: the store had it when its filters were read.
PeriodIndex all_hidden_through(int64_t reach_ms, bool stored, const Calendar& calendar);

}  // namespace bloomring::forget_rule
