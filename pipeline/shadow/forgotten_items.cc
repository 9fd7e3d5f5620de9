#include "pipeline/shadow/forgotten_items.h"

#include <algorithm>

namespace bloomring {

bool is_forgotten(const Snapshot& snapshot, const Calendar& calendar, ItemHash item, int64_t time_ms) {
  const auto found = std::ranges::find(snapshot.forgotten, item, &Snapshot::Forgotten::item);
  if (found == snapshot.forgotten.end()) return false;
  if (time_ms == 0) return true;
  // Periods are newest first: the filter of this one and those behind it do not count.
  const std::string played = calendar.name(calendar.period_of_ms(time_ms));
  const auto newest = snapshot.periods.begin() + static_cast<ptrdiff_t>(found->period);
  return std::find(newest, snapshot.periods.end(), played) != snapshot.periods.end();
}

bool is_forgotten(const Forgotten& forgotten, ItemHash item, int64_t time_ms) {
  if (time_ms != 0) return !forgotten.counts(item, time_ms);
  return forgotten.everything_ms() != 0 || forgotten.find(item) != nullptr;
}

}  // namespace bloomring
