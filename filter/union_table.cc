#include "filter/union_table.h"

#include <algorithm>

#include "filter/bits.h"
#include "filter/coding.h"
#include "filter/kernels.h"

namespace bloomring::filter {

namespace {

constexpr uint32_t kSlotBitsMin = 10;
constexpr uint32_t kSlotBitsMax = 20;  // 4 MiB: beyond that its misses cost more than the chains it saves.
constexpr uint64_t kSlotsPerItem = 4;
constexpr uint64_t kPartSlots = 4096;  // 16 KiB: half of a first-level cache.
// A set that is less than this much wider than slot_bits would leave the others too few bits to compare. It is so small
// that it may take all its slots, with any content.
constexpr uint32_t kContentBitsMin = 4;
constexpr uint32_t kContentBitsMax = 24;
constexpr uint32_t kAnyContent = 0xffffff;
constexpr uint32_t kNoLink = 0xffffff;  // Instead of a link: ask all sets.

uint32_t entry_of(uint32_t content, uint32_t number) { return content << UnionTable::kNumberBits | (number + 1); }

}  // namespace

Status UnionTable::decode(uint8_t filter, const EliasFanoView& set) {
  if (set.items == 0) return {};
  Set added{filter, set.width_bits, 0, 0, 0};
  const auto take = [&](auto& keys, size_t& used, auto decoder) {
    if (keys.size() < used + set.items + kDecodeMore) keys.resize(used + set.items + kDecodeMore);
    added.begin = used;
    used = added.end = used + set.items;
    return decoder(set, keys.data() + added.begin);
  };
  const EliasFanoFault fault = added.is_long() ? take(long_keys_, long_keys_used_, kernels_->decode)
                                               : take(keys_, keys_used_, kernels_->decode32);
  sets_.push_back(added);
  items_ += set.items;
  return elias_fano_status(fault);
}

Status UnionTable::add(uint8_t filter, const EliasFanoView& narrow, const EliasFanoView& wide) {
  const size_t sets = sets_.size();
  Status decoded = decode(filter, narrow);
  if (decoded.ok()) decoded = decode(filter, wide);
  while (!decoded.ok() && sets_.size() > sets) {
    items_ -= sets_.back().end - sets_.back().begin;
    (sets_.back().is_long() ? long_keys_used_ : keys_used_) = sets_.back().begin;
    sets_.pop_back();
  }
  return decoded;
}

void UnionTable::clear() {
  sets_.clear();
  items_ = keys_used_ = long_keys_used_ = 0;
}

void UnionTable::build() {
  slot_bits = std::clamp(ceil_log2(items_ * kSlotsPerItem), kSlotBitsMin, kSlotBitsMax);
  compared_bits_ = std::min(slot_bits + kContentBitsMax, 32u);
  for (const Set& set : sets_) {
    if (set.width_bits >= slot_bits + kContentBitsMin) compared_bits_ = std::min(compared_bits_, set.width_bits);
  }
  all_exact_ =
      std::all_of(sets_.begin(), sets_.end(), [&](const Set& set) { return set.width_bits == compared_bits_; });
  content_shift = 32 - compared_bits_;
  content_mask = static_cast<uint32_t>(low_mask(compared_bits_ - slot_bits));
  if (slots.size() < size_t{1} << slot_bits) slots.resize(size_t{1} << slot_bits);
  links_.clear();
  // Sets are sorted, so a part of the table is cleared and filled from all of them while it is in the nearest cache.
  for (Set& set : sets_) set.next = set.begin;
  const uint64_t part_slots = std::min(kPartSlots, uint64_t{1} << slot_bits);
  for (uint64_t begin = 0; begin < uint64_t{1} << slot_bits; begin += part_slots) {
    std::fill_n(slots.begin() + static_cast<ptrdiff_t>(begin), part_slots, 0);
    for (uint32_t number = 0; number < sets_.size(); ++number) {
      const Set& set = sets_[number];
      if (set.width_bits < compared_bits_) continue;
      set.is_long() ? insert(long_keys_.data(), number, begin + part_slots)
                    : insert(keys_.data(), number, begin + part_slots);
    }
  }
  for (uint32_t number = 0; number < sets_.size(); ++number) {
    const Set& set = sets_[number];
    if (set.width_bits >= compared_bits_) continue;
    set.is_long() ? insert_everywhere(long_keys_.data(), number) : insert_everywhere(keys_.data(), number);
  }
}

template <typename Int>
void UnionTable::insert(const Int* keys, uint32_t number, uint64_t slots_end) {
  Set& set = sets_[number];
  const uint32_t content_bits = compared_bits_ - slot_bits;
  const uint64_t keys_end = slots_end << (set.width_bits - slot_bits);
  while (set.next < set.end && keys[set.next] < keys_end) {
    // About the expected number; a value with uneven fingerprints makes more rounds.
    const size_t most = std::min<size_t>(set.end - set.next, kPartSlots);
    const Int* const begin = keys + set.next;
    const Int* const end = std::lower_bound(begin, begin + most, keys_end);
    if (collisions_.size() < most + 1) collisions_.resize(most + 1);
    const SlotFill fill{set.width_bits - compared_bits_, content_bits, content_mask, number + 1, slots.data()};
    size_t count = 0;
    if constexpr (sizeof(Int) == 4) {
      count = kernels_->fill_slots(begin, end, fill, collisions_.data());
    } else {
      count = coding::fill_slots(begin, end, fill, collisions_.data());
    }
    for (size_t i = 0; i < count; ++i) {
      chain(slots[collisions_[i] >> content_bits], entry_of(collisions_[i] & content_mask, number));
    }
    set.next += static_cast<size_t>(end - begin);
  }
}

template <typename Int>
void UnionTable::insert_everywhere(const Int* keys, uint32_t number) {
  const Set set = sets_[number];
  for (size_t i = set.begin; i < set.end; ++i) {
    const uint32_t more_bits = set.width_bits < slot_bits ? slot_bits - set.width_bits : 0;
    const uint32_t cut_bits = set.width_bits > slot_bits ? set.width_bits - slot_bits : 0;
    const uint64_t first = static_cast<uint64_t>(keys[i]) >> cut_bits << more_bits;
    for (uint64_t s = first; s < first + (uint64_t{1} << more_bits); ++s)
      chain(slots[s], entry_of(kAnyContent, number));
  }
}

void UnionTable::chain(uint32_t& slot, uint32_t entry) {
  constexpr uint32_t kAskAll = kNoLink << kNumberBits | kChain;
  if (slot == kAskAll) return;
  links_.push_back({entry, slot});
  // Too many links to number in a slot: this slot asks all sets.
  slot = links_.size() <= kNoLink ? static_cast<uint32_t>(links_.size() - 1) << kNumberBits | kChain : kAskAll;
}

bool UnionTable::holds(const Set& set, uint64_t full_key) const {
  const uint64_t fingerprint = full_key >> (64 - set.width_bits);
  const auto search = [&](const auto* keys) {
    return std::binary_search(keys + set.begin, keys + set.end, fingerprint);
  };
  return set.is_long() ? search(long_keys_.data()) : search(keys_.data());
}

uint8_t UnionTable::resolve_slowly(uint32_t slot, uint64_t full_key) const {
  const uint32_t content = static_cast<uint32_t>(full_key >> 32) >> content_shift & content_mask;
  uint8_t first = kNoFilter;
  const auto ask = [&](const Set& set) {
    if (set.filter < first && (set.width_bits == compared_bits_ || holds(set, full_key))) first = set.filter;
  };
  const auto ask_entry = [&](uint32_t entry) {
    const uint32_t held = entry >> kNumberBits;
    if (entry != 0 && (held == content || held == kAnyContent)) ask(sets_[(entry & kNumberMask) - 1]);
  };
  for (; (slot & kNumberMask) == kChain && slot >> kNumberBits != kNoLink; slot = links_[slot >> kNumberBits].rest) {
    ask_entry(links_[slot >> kNumberBits].entry);
  }
  if ((slot & kNumberMask) != kChain) {
    ask_entry(slot);
    return first;
  }
  for (const Set& set : sets_) {
    if (set.filter < first && holds(set, full_key)) first = set.filter;
  }
  return first;
}

}  // namespace bloomring::filter
