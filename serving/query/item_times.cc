#include "serving/query/item_times.h"

#include <algorithm>

namespace bloomring {

// The slot where the item is or would be. The part is not empty.
size_t ItemTimes::place(const Part& part, ItemHash item) {
  const size_t mask = part.slots.size() - 1;
  size_t at = item.value & mask;
  while (part.slots[at].time_ms != kNever && part.slots[at].item != item.value) at = (at + 1) & mask;
  return at;
}

void ItemTimes::grow(Part& part) {
  const std::vector<Slot> old = std::move(part.slots);
  part.slots = std::vector<Slot>(std::max(kSlotsMin, old.size() * 2));
  slots_ += part.slots.size() - old.size();
  for (const Slot& slot : old) {
    if (slot.time_ms != kNever) part.slots[place(part, ItemHash(slot.item))] = slot;
  }
}

void ItemTimes::insert(ItemHash item, int64_t time_ms) {
  Part& part = parts_[part_of(item)];
  if (part.items * 4 >= part.slots.size() * 3) grow(part);
  Slot& slot = part.slots[place(part, item)];
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

int64_t ItemTimes::find(ItemHash item) const {
  const Part& part = parts_[part_of(item)];
  return part.slots.empty() ? kNever : part.slots[place(part, item)].time_ms;
}

void ItemTimes::find_all(std::span<const ItemHash> items, std::span<int64_t> times_ms) const {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i + kPrefetchAhead < items.size()) {
      const ItemHash next = items[i + kPrefetchAhead];
      const Part& part = parts_[part_of(next)];
      if (!part.slots.empty()) __builtin_prefetch(&part.slots[next.value & (part.slots.size() - 1)]);
    }
    times_ms[i] = std::max(times_ms[i], find(items[i]));
  }
}

}  // namespace bloomring
