#include "serving/exact_set.h"

#include <algorithm>
#include <bit>

#include "base/result.h"

namespace bloomring {

void ExactSet::reset(size_t items_max) {
  const size_t slots = std::bit_ceil(std::max<size_t>(16, items_max * 2));
  const size_t bits = slots * 16;  // At least 32 bits an item: one candidate in 32 passes for nothing.
  items_ = 0;
  mask_ = slots - 1;
  bitmap_shift_ = 64 - static_cast<unsigned>(std::countr_zero(bits));
  slots_.assign(slots, Slot{0, kAbsent});
  bitmap_.assign(bits / 64, 0);
}

void ExactSet::insert(ItemHash item, uint8_t tag) {
  size_t at = item.value & mask_;
  while (slots_[at].tag != kAbsent && slots_[at].item != item.value) at = (at + 1) & mask_;
  if (slots_[at].tag != kAbsent) return;
  BLOOMRING_CHECK(++items_ * 2 <= slots_.size(), "more items than the exact set was made for");
  slots_[at] = {item.value, tag};
  const uint64_t bit = item.value >> bitmap_shift_;
  bitmap_[bit / 64] |= uint64_t{1} << (bit % 64);
}

uint8_t ExactSet::tag_of(ItemHash item) const {
  size_t at = item.value & mask_;
  while (slots_[at].tag != kAbsent && slots_[at].item != item.value) at = (at + 1) & mask_;
  return slots_[at].tag;
}

void ExactSet::find(std::span<const ItemHash> candidates, std::span<uint8_t> tags) {
  std::fill(tags.begin(), tags.end(), kAbsent);
  if (items_ == 0) return;
  passed_.resize(candidates.size());
  size_t passed = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const uint64_t bit = candidates[i].value >> bitmap_shift_;
    passed_[passed] = static_cast<uint32_t>(i);
    passed += (bitmap_[bit / 64] >> (bit % 64)) & 1;
  }
  for (size_t p = 0; p < passed; ++p) tags[passed_[p]] = tag_of(candidates[passed_[p]]);
}

}  // namespace bloomring
