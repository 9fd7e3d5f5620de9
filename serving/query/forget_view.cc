#include "serving/query/forget_view.h"

#include <algorithm>

namespace bloomring {

namespace {

// The time up to which a forget reaches in filters. A late one ends before its period begins.
int64_t reach_ms(const RecentForget& forget, const Calendar& calendar) {
  return forget.late ? calendar.start_ms(calendar.period_of_ms(forget.time_ms)) - 1 : forget.time_ms;
}

PeriodIndex before(PeriodIndex period) { return PeriodIndex(period.value - 1); }

// The forgets of one item, from the store and from memory.
struct Known {
  ItemHash item;
  int64_t time_ms = 0;    // Of plays and serves.
  int64_t filter_ms = 0;  // Of filters.
  int64_t played_ms = 0;  // Store's latest play after its forget that is in a filter; 0: none.
};

// One entry for each item, ascending.
std::vector<Known> gather(std::span<const RecentForget> recent, const Forgotten& stored, const Calendar& calendar) {
  std::vector<Known> all;
  for (const Forgotten::Item& item : stored.items())
    all.push_back({item.item, item.forgotten_ms, item.forgotten_ms, item.played_ms});
  for (const RecentForget& forget : recent) {
    if (!forget.everything) all.push_back({forget.item, forget.time_ms, reach_ms(forget, calendar), 0});
  }
  std::ranges::sort(all, {}, &Known::item);
  std::vector<Known> merged;
  for (const Known& known : all) {
    if (merged.empty() || merged.back().item != known.item) {
      merged.push_back(known);
      continue;
    }
    Known& same = merged.back();
    same.time_ms = std::max(same.time_ms, known.time_ms);
    same.filter_ms = std::max(same.filter_ms, known.filter_ms);
    same.played_ms = std::max(same.played_ms, known.played_ms);
  }
  return merged;
}

}  // namespace

ForgetView::ForgetView(std::span<const RecentForget> recent, const Forgotten& stored, const Calendar& calendar)
    : everything_ms_(stored.everything_ms()) {
  // Stored forget of everything: the filter of its period holds later plays only, so it counts.
  if (everything_ms_ != 0) everything_through_ = before(calendar.period_of_ms(everything_ms_));
  for (const RecentForget& forget : recent) {
    if (!forget.everything) continue;
    everything_ms_ = std::max(everything_ms_, forget.time_ms);
    const int64_t filter_ms = reach_ms(forget, calendar);
    // Recent forget of everything that the store does not have: the filter of its period does not count either.
    if (filter_ms > stored.everything_ms())
      everything_through_ = std::max(everything_through_, calendar.period_of_ms(filter_ms));
  }
  for (const Known& known : gather(recent, stored, calendar)) {
    items_.push_back({known.item, known.time_ms});
    // Forget of an item: the filter of its period counts only if the store knows of a play of the item after it.
    const PeriodIndex period = calendar.period_of_ms(known.filter_ms);
    masks_.push_back({known.item, known.played_ms > known.filter_ms ? before(period) : period});
  }
}

bool ForgetView::counts(ItemHash item, int64_t time_ms) const {
  if (time_ms <= everything_ms_) return false;
  const auto place = std::ranges::lower_bound(items_, item, {}, &Item::item);
  return place == items_.end() || place->item != item || time_ms > place->time_ms;
}

bool ForgetView::masked(ItemHash item, PeriodIndex period) const {
  const auto place = std::ranges::lower_bound(masks_, item, {}, &Mask::item);
  return place != masks_.end() && place->item == item && period <= place->through;
}

}  // namespace bloomring
