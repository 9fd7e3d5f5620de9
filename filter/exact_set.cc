#include "filter/exact_set.h"

#include <algorithm>
#include <bit>

#include "base/result.h"
#include "base/scatter.h"

namespace bloomring {

namespace {
constexpr size_t kSmallSlots = 2'048;  // Their map takes 32 KiB.
}  // namespace

void ExactSet::reset(size_t items_max) {
  const size_t slots = std::bit_ceil(std::max<size_t>(16, items_max * 2));
  const size_t bytes = slots * (slots <= kSmallSlots ? 16 : 4);  // At most 1 absent candidate in 32, or 8, passes.
  items_ = 0;
  mask_ = slots - 1;
  map_shift_ = 64 - static_cast<unsigned>(std::countr_zero(bytes));
  slots_.assign(slots, Slot{0, kAbsent});
  map_.assign(bytes, 0);
}

// The slot where the item is or would be.
size_t ExactSet::place(ItemHash item) const {
  size_t at = scatter(item.value) & mask_;
  while (slots_[at].tag != kAbsent && slots_[at].item != item.value) at = (at + 1) & mask_;
  return at;
}

void ExactSet::insert(ItemHash item, uint8_t tag) {
  const size_t at = place(item);
  if (slots_[at].tag != kAbsent) return;
  BLOOMRING_CHECK(++items_ * 2 <= slots_.size(), "more items than the exact set was made for");
  slots_[at] = {item.value, tag};
  map_[item.value >> map_shift_] = 1;
}

size_t ExactSet::longest_search() const {
  return longest_probe(
      slots_.size(), [&](size_t at) { return slots_[at].tag != kAbsent; },
      [&](size_t at) { return scatter(slots_[at].item) & mask_; });
}

void ExactSet::find(std::span<const ItemHash> candidates, std::span<uint8_t> tags) {
  std::fill(tags.begin(), tags.end(), kAbsent);
  if (items_ == 0) return;
  passed_.resize(candidates.size());
  size_t passed = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    passed_[passed] = static_cast<uint32_t>(i);
    passed += map_[candidates[i].value >> map_shift_];
  }
  for (size_t p = 0; p < passed; ++p) tags[passed_[p]] = slots_[place(candidates[passed_[p]])].tag;
}

}  // namespace bloomring
