#include "serving/query/forget_view.h"

#include <algorithm>

#include "state/forget_rule.h"

namespace bloomring {

namespace {

// A forget in memory and the records after it are released together.
constexpr bool kNotPassed = false;

// The forgets of one item, from the store and from memory.
struct Known {
  ItemHash item;
  int64_t time_ms = 0;    // Of plays and serves.
  int64_t filter_ms = 0;  // Of filters.
  int64_t played_ms = 0;  // Store's latest play after its forget that is in a filter; 0: none.
};

// One entry for each item, ascending.
std::vector<Known> gather(std::span<const Forget> recent, const Forgotten& stored, const Calendar& calendar) {
  std::vector<Known> all;
  for (const Forgotten::Item& item : stored.items())
    all.push_back({item.item, item.forgotten_ms, item.forgotten_ms, item.played_ms});
  for (const Forget& forget : recent) {
    if (forget.everything) continue;
    all.push_back({forget.item, forget.time_ms, forget_rule::reach_ms(forget, kNotPassed, calendar), 0});
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

ForgetView::ForgetView(std::span<const Forget> recent, const Forgotten& stored, const Calendar& calendar)
    : everything_ms_(stored.everything_ms()) {
  if (everything_ms_ != 0)
    everything_through_ = forget_rule::all_hidden_through(everything_ms_, /*stored=*/true, calendar);
  for (const Forget& forget : recent) {
    // One item: see the next loop.
    if (!forget.everything) continue;
    // Everything: plays and serves up to its time do not count.
    everything_ms_ = std::max(everything_ms_, forget.time_ms);
    const int64_t filter_ms = forget_rule::reach_ms(forget, kNotPassed, calendar);
    // The stored forget reaches as far in filters.
    if (filter_ms <= stored.everything_ms()) continue;
    // The filters through its period are hidden, too.
    everything_through_ =
        std::max(everything_through_, forget_rule::all_hidden_through(filter_ms, /*stored=*/false, calendar));
  }
  for (const Known& known : gather(recent, stored, calendar)) {
    // Plays and serves of the item count after its latest forget, and its filters after the last hidden period.
    items_.push_back({known.item, known.time_ms});
    masks_.push_back({known.item, forget_rule::hidden_through(known.filter_ms, known.played_ms, calendar)});
  }
}

bool ForgetView::counts(ItemHash item, int64_t time_ms) const {
  if (!counts_after(time_ms, everything_ms_)) return false;
  const auto place = std::ranges::lower_bound(items_, item, {}, &Item::item);
  return place == items_.end() || place->item != item || counts_after(time_ms, place->time_ms);
}

bool ForgetView::masked(ItemHash item, PeriodIndex period) const {
  const auto place = std::ranges::lower_bound(masks_, item, {}, &Mask::item);
  return place != masks_.end() && place->item == item && period <= place->through;
}

}  // namespace bloomring
