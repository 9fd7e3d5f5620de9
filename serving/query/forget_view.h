// What of a user's plays, serves and filters counts for one answer, after all that the user has forgotten: what the
// filter store says of it (schemas/forgotten.h) together with what is recent, which the store may not know yet.
//
// A play or a serve counts when it happened after every forget of its item and of everything. Of filters:
//   - one of a period before that of a forget of everything does not count; nor does one of the same period, unless the
//     store knew of the forget when it was read: then it holds later plays only;
//   - what one says of a forgotten item does not count up to the period of the forget; in that period it does when the
//     store knows that the item was played after it.
// No play after a forget is lost by this: a filter may hold one only when the forget is in the store, too, or when the
// play is among the recent ones, which are judged by their own times (a forget and what comes after it in the log are
// let go together). A late forget reaches to the beginning of its period in filters, as in the store.
// A value; pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "schemas/forgotten.h"
#include "serving/query/recent_plays.h"
#include "state/period.h"

namespace bloomring {

class ForgetView {
 public:
  // What filters up to and including a period say of an item does not count.
  struct Mask {
    ItemHash item;
    PeriodIndex through;
  };

  ForgetView() = default;
  ForgetView(std::span<const RecentForget> recent, const Forgotten& stored, const Calendar& calendar);

  // True when everything counts.
  bool none() const { return everything_ms_ == 0 && items_.empty(); }
  bool counts(ItemHash item, int64_t time_ms) const;
  bool filter_counts(PeriodIndex period) const { return period > everything_through_; }
  bool masked(ItemHash item, PeriodIndex period) const;
  // Ascending by item.
  const std::vector<Mask>& masks() const { return masks_; }

 private:
  struct Item {
    ItemHash item;
    int64_t time_ms;  // Plays and serves up to this time do not count.
  };
  static constexpr PeriodIndex kNoPeriod{INT32_MIN};

  int64_t everything_ms_ = 0;
  PeriodIndex everything_through_ = kNoPeriod;
  std::vector<Item> items_;  // Ascending by item.
  std::vector<Mask> masks_;
};

}  // namespace bloomring
