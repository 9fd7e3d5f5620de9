#include "serving/query/item_times.h"

#include <algorithm>

#include "base/scatter.h"

namespace bloomring {

// The slot where the item is or would be. The part is not empty.
size_t ItemTimes::place(const Part& part, ItemHash item, uint64_t scattered) {
  const size_t mask = part.slots.size() - 1;
  size_t at = home(part, scattered);
  while (part.slots[at].time_ms != kNever && part.slots[at].item != item.value) at = (at + 1) & mask;
  return at;
}

void ItemTimes::grow(Part& part) {
  const std::vector<Slot> old = std::move(part.slots);
  part.slots = std::vector<Slot>(std::max(kSlotsMin, old.size() * 2));
  slots_ += part.slots.size() - old.size();
  for (const Slot& slot : old) {
    if (slot.time_ms != kNever) part.slots[place(part, ItemHash(slot.item), scatter(slot.item))] = slot;
  }
}

void ItemTimes::insert(ItemHash item, int64_t time_ms) {
  const uint64_t scattered = scatter(item.value);
  Part& part = parts_[part_of(scattered)];
  if (part.items * 4 >= part.slots.size() * 3) grow(part);
  Slot& slot = part.slots[place(part, item, scattered)];
  if (slot.time_ms == kNever) {
    ++part.items;
    ++items_;
  }
  slot = {item.value, std::max(slot.time_ms, time_ms)};
  if (time_ms > newest_ms_) {
    newest_ms_ = time_ms;
    newest_item_ = item;
  }
}

int64_t ItemTimes::find(ItemHash item, uint64_t scattered) const {
  const Part& part = parts_[part_of(scattered)];
  return part.slots.empty() ? kNever : part.slots[place(part, item, scattered)].time_ms;
}

int64_t ItemTimes::find(ItemHash item) const { return find(item, scatter(item.value)); }

void ItemTimes::find_all(std::span<const ItemHash> items, std::span<int64_t> times_ms) const {
  std::array<uint64_t, kPrefetchAhead> ahead;  // Scattered, of the items that come next.
  const auto prefetch = [&](size_t i) {
    const uint64_t scattered = ahead[i % kPrefetchAhead] = scatter(items[i].value);
    const Part& part = parts_[part_of(scattered)];
    if (!part.slots.empty()) __builtin_prefetch(&part.slots[home(part, scattered)]);
  };
  for (size_t i = 0; i < std::min(kPrefetchAhead, items.size()); ++i) prefetch(i);
  for (size_t i = 0; i < items.size(); ++i) {
    times_ms[i] = std::max(times_ms[i], find(items[i], ahead[i % kPrefetchAhead]));
    if (i + kPrefetchAhead < items.size()) prefetch(i + kPrefetchAhead);
  }
}

size_t ItemTimes::longest_search() const {
  size_t longest = 0;
  for (const Part& part : parts_) {
    const auto taken = [&](size_t place) { return part.slots[place].time_ms != kNever; };
    const auto home_of = [&](size_t place) { return home(part, scatter(part.slots[place].item)); };
    longest = std::max(longest, longest_probe(part.slots.size(), taken, home_of));
  }
  return longest;
}

}  // namespace bloomring
