// Decides which of a user's plays, serves and filters count for one answer. It unites the forgets in the filter store
// (schemas/forgotten.h) with the recent forgets, which the store may not have yet.
//
// The rule is that of state/forget_rule.h.
//
// No play after a forget is lost by this. A filter can hold such a play only when the store has the forget, too, or
// when the play is among the recent ones, which are judged by their own times (a forget and the later records of the
// log are released together).
// Threading: a value; pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "schemas/forget.h"
#include "schemas/forgotten.h"
#include "state/period.h"

namespace bloomring {

class ForgetView {
 public:
  // Filters up to and including this period do not count for the item.
  struct Mask {
    ItemHash item;
    PeriodIndex through;
  };

  ForgetView() = default;
  ForgetView(std::span<const Forget> recent, const Forgotten& stored, const Calendar& calendar);

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
