#include "state/filter/union_table.h"

#include <algorithm>

#include "state/filter/bits.h"

namespace bloomring::filter {

namespace {

constexpr uint32_t kSlotBitsMin = 10;
constexpr uint32_t kSlotBitsMax = 20;  // 4 MiB: beyond that its misses cost more than the chains it saves.
constexpr uint64_t kSlotsPerItem = 4;
// A set that is not wider than slot_bits by so many bits would leave too few bits to compare for the others. It is so
// small that it may stand in all its slots with any content.
constexpr uint32_t kContentBitsMin = 4;
constexpr uint32_t kContentBitsMax = 24;
constexpr uint32_t kAnyContent = 0xffffffff;
constexpr uint32_t kNoLink = 0xffffff;  // The end of a chain; as the first link: ask all sets.

}  // namespace

void UnionTable::add(uint8_t filter, uint32_t width_bits, size_t begin, size_t end) {
  sets_.push_back({filter, width_bits, begin, end});
}

void UnionTable::clear() {
  fingerprints_.clear();
  sets_.clear();
}

void UnionTable::build() {
  slot_bits = std::clamp(ceil_log2(fingerprints_.size() * kSlotsPerItem), kSlotBitsMin, kSlotBitsMax);
  compared_bits_ = std::min(slot_bits + kContentBitsMax, 32u);
  for (const Set& set : sets_) {
    if (set.width_bits >= slot_bits + kContentBitsMin) compared_bits_ = std::min(compared_bits_, set.width_bits);
  }
  content_shift = 32 - compared_bits_;
  content_mask = static_cast<uint32_t>(low_mask(compared_bits_ - slot_bits));
  slots.assign(size_t{1} << slot_bits, 0);
  links_.clear();
  for (uint32_t number = 0; number < sets_.size(); ++number) {
    sets_[number].width_bits >= compared_bits_ ? insert(number) : insert_everywhere(number);
  }
}

void UnionTable::insert(uint32_t number) {
  const Set set = sets_[number];
  const uint32_t cut_bits = set.width_bits - compared_bits_;
  const uint32_t content_bits = compared_bits_ - slot_bits;
  const uint32_t mask = content_mask;
  uint32_t* const table = slots.data();
  for (const uint64_t *at = fingerprints_.data() + set.begin, *end = fingerprints_.data() + set.end; at != end; ++at) {
    const auto key = static_cast<uint32_t>(*at >> cut_bits);
    uint32_t& slot = table[key >> content_bits];
    if (slot == 0) {
      slot = (key & mask) << kNumberBits | (number + 1);
    } else {
      chain(slot, key & mask, number);
    }
  }
}

void UnionTable::insert_everywhere(uint32_t number) {
  const Set set = sets_[number];
  for (size_t i = set.begin; i < set.end; ++i) {
    const uint32_t more_bits = set.width_bits < slot_bits ? slot_bits - set.width_bits : 0;
    const uint32_t cut_bits = set.width_bits > slot_bits ? set.width_bits - slot_bits : 0;
    const uint64_t first = fingerprints_[i] >> cut_bits << more_bits;
    for (uint64_t s = first; s < first + (uint64_t{1} << more_bits); ++s) chain(slots[s], kAnyContent, number);
  }
}

void UnionTable::chain(uint32_t& slot, uint32_t content, uint32_t number) {
  uint32_t first = slot >> kNumberBits;
  if (slot == 0) {
    first = kNoLink;
  } else if ((slot & kNumberMask) != kChain) {
    links_.push_back({slot >> kNumberBits, (slot & kNumberMask) - 1, kNoLink});
    first = static_cast<uint32_t>(links_.size() - 1);
  } else if (first == kNoLink) {
    return;
  }
  links_.push_back({content, number, first});
  // Too many links to be numbered in a slot: this one asks all sets.
  slot = static_cast<uint32_t>(std::min<size_t>(links_.size() - 1, kNoLink)) << kNumberBits | kChain;
}

bool UnionTable::holds(const Set& set, uint64_t full_key) const {
  const uint64_t fingerprint = full_key >> (64 - set.width_bits);
  return std::binary_search(fingerprints_.begin() + static_cast<ptrdiff_t>(set.begin),
                            fingerprints_.begin() + static_cast<ptrdiff_t>(set.end), fingerprint);
}

uint8_t UnionTable::resolve(uint64_t full_key) const {
  const auto key = static_cast<uint32_t>(full_key >> 32);
  const uint32_t content = key >> content_shift & content_mask;
  const uint32_t slot = slots[key >> (32 - slot_bits)];
  const auto matches = [&](uint32_t number) {
    return sets_[number].width_bits == compared_bits_ || holds(sets_[number], full_key);
  };
  if ((slot & kNumberMask) != kChain) {
    const uint32_t number = (slot & kNumberMask) - 1;
    return matches(number) ? sets_[number].filter : kNoFilter;
  }
  uint8_t first = kNoFilter;
  if (slot >> kNumberBits == kNoLink) {
    for (const Set& set : sets_) {
      if (set.filter < first && holds(set, full_key)) first = set.filter;
    }
    return first;
  }
  for (uint32_t at = slot >> kNumberBits; at != kNoLink; at = links_[at].next) {
    const Link& link = links_[at];
    const bool equal = link.content == content || link.content == kAnyContent;
    if (equal && sets_[link.number].filter < first && matches(link.number)) first = sets_[link.number].filter;
  }
  return first;
}

}  // namespace bloomring::filter
