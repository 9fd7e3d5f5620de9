// The loops over coded sets: decode, encode, index, look up. Written once, always inlined, and compiled for each
// instruction set by kernels_portable.cc and kernels_avx2.cc (shifts and bit counts take half the time with BMI2). No
// loop reads outside the value, whatever its bytes.
#pragma once

#include <algorithm>

#include "filter/bits.h"
#include "filter/elias_fano.h"
#include "filter/kernels.h"

#define BLOOMRING_INLINE [[gnu::always_inline]] inline

namespace bloomring::filter {

namespace coding {

// `fast`: eight bytes can be read from every low part.
template <bool fast, typename Int>
BLOOMRING_INLINE EliasFanoFault decode(const EliasFanoView& set, Int* out) {
  const uint8_t* const lows = set.lows;
  const uint8_t* const uppers_end = set.uppers + set.shape.uppers_bytes;
  const uint32_t low_bits = set.shape.low_bits;
  const uint64_t mask = low_mask(low_bits);
  const uint64_t items = set.items;
  uint64_t i = 0;
  uint64_t low_at = 0;  // i * low_bits
  int64_t last = -1;
  bool ascends = true;
  for (uint64_t base = 0; base < set.shape.uppers_bytes * 8; base += 64) {
    uint64_t word = load64(set.uppers + base / 8, uppers_end);
    if (i + static_cast<uint64_t>(std::popcount(word)) > items) return EliasFanoFault::kTooMany;
    for (; word != 0; word &= word - 1) {
      uint64_t low = 0;
      if constexpr (fast) {
        std::memcpy(&low, lows + (low_at >> 3), 8);
      } else {
        low = load64(lows + (low_at >> 3), set.end);
      }
      const uint64_t bucket = base + static_cast<uint64_t>(std::countr_zero(word)) - i;
      const uint64_t fingerprint = bucket << low_bits | (low >> (low_at & 7) & mask);
      ascends &= static_cast<int64_t>(fingerprint) > last;
      last = static_cast<int64_t>(fingerprint);
      out[i++] = static_cast<Int>(fingerprint);
      low_at += low_bits;
    }
  }
  if (i != items) return EliasFanoFault::kTooFew;
  if (!ascends) return EliasFanoFault::kNotAscending;
  return static_cast<uint64_t>(last) >> set.width_bits != 0 ? EliasFanoFault::kTooWide : EliasFanoFault::kNone;
}

template <typename Int>
BLOOMRING_INLINE EliasFanoFault decode_any(const EliasFanoView& set, Int* out) {
  const bool fast = set.lows + set.shape.lows_bytes + 7 <= set.end;
  return fast ? decode<true>(set, out) : decode<false>(set, out);
}

// Writes both parts of a set into zeroed memory.
BLOOMRING_INLINE void encode(const uint64_t* set, uint64_t items, const EliasFanoShape& shape, uint8_t* lows,
                             uint8_t* uppers) {
  const uint32_t low_bits = shape.low_bits;
  const uint64_t mask = low_mask(low_bits);
  uint64_t pending = 0;
  uint32_t pending_bits = 0;
  for (uint64_t i = 0; i < items; ++i) {
    const uint64_t low = set[i] & mask;
    pending |= low << pending_bits;
    pending_bits += low_bits;
    if (pending_bits >= 64) {
      std::memcpy(lows, &pending, 8);
      lows += 8;
      pending_bits -= 64;
      pending = pending_bits == 0 ? 0 : low >> (low_bits - pending_bits);
    }
    const uint64_t bit = (set[i] >> low_bits) + i;
    uppers[bit >> 3] = static_cast<uint8_t>(uppers[bit >> 3] | 1u << (bit & 7));
  }
  std::memcpy(lows, &pending, bytes_of_bits(pending_bits));
}

// No branch depends on the slot: the processor could not predict it.
template <typename Int>
BLOOMRING_INLINE size_t fill_slots(const Int* begin, const Int* end, const SlotFill& fill, uint32_t* collisions) {
  const SlotFill f = fill;
  size_t count = 0;
  for (; begin != end; ++begin) {
    const auto key = static_cast<uint32_t>(*begin >> f.cut_bits);
    uint32_t& slot = f.slots[key >> f.content_bits];
    const uint32_t before = slot;
    const uint32_t entry = (key & f.content_mask) << UnionSlots::kNumberBits | f.number;
    const auto is_taken = static_cast<uint32_t>(before != 0);
    slot = before | (entry & (is_taken - 1));
    collisions[count] = key;
    count += is_taken;
  }
  return count;
}

// Probes the candidates from `first` on, and appends to the `count` hits at hand.
BLOOMRING_INLINE size_t probe_table(const UnionSlots& table, std::span<const uint32_t> keys, size_t first, size_t count,
                                    uint32_t* hits, uint32_t* hit_slots) {
  for (size_t c = first; c < keys.size(); ++c) {
    const uint32_t slot = table.slot_of(keys[c]);
    hits[count] = static_cast<uint32_t>(c);
    hit_slots[count] = slot;
    count += static_cast<size_t>(table.may_hold(slot, keys[c]));
  }
  return count;
}

// The bit of the uppers at which the items of a bucket begin; past the end when the coding is damaged.
template <typename Select>
BLOOMRING_INLINE uint64_t bucket_begin(const EliasFanoView& set, uint64_t bucket) {
  const uint64_t stride = bucket / kDirectoryBuckets;
  uint32_t before = 0;
  if (stride > 0) std::memcpy(&before, set.directory + (stride - 1) * kDirectoryEntryBytes, kDirectoryEntryBytes);

  // Items are ones and ends of buckets are zeros: bucket number b begins after b zeros.
  const uint8_t* const uppers_end = set.uppers + set.shape.uppers_bytes;
  const uint64_t upper_bits = set.shape.uppers_bytes * 8;
  const uint64_t bit = stride * kDirectoryBuckets + before;
  uint64_t zeros_left = bucket % kDirectoryBuckets;
  if (bit >= upper_bits) return upper_bits;
  if (zeros_left == 0) return bit;
  uint64_t base = bit & ~uint64_t{63};
  uint64_t zeros = ~load64(set.uppers + base / 8, uppers_end) & ~uint64_t{0} << (bit & 63);
  // Mostly one of the first three words. Which one cannot be predicted, so the first two steps take no branch.
  for (int step = 0; step < 2; ++step) {
    const auto count = static_cast<uint64_t>(std::popcount(zeros));
    const uint64_t next = ~load64(set.uppers + std::min(base + 64, upper_bits) / 8, uppers_end);
    const bool further = count < zeros_left;
    zeros = further ? next : zeros;
    base += further ? 64 : 0;
    zeros_left -= further ? count : 0;
  }
  for (uint64_t count; (count = static_cast<uint64_t>(std::popcount(zeros))) < zeros_left; zeros_left -= count) {
    base += 64;
    if (base >= upper_bits) return upper_bits;
    zeros = ~load64(set.uppers + base / 8, uppers_end);
  }
  return base + Select::at(zeros, zeros_left - 1) + 1;
}

// True when a fingerprint is among the items of its bucket, which begins at `bit`.
BLOOMRING_INLINE bool bucket_holds(const EliasFanoView& set, uint64_t fingerprint, uint64_t bit) {
  const uint64_t i = bit - (fingerprint >> set.shape.low_bits);
  if (i >= set.items) return false;
  const uint64_t wanted = fingerprint & low_mask(set.shape.low_bits);
  const uint8_t* const uppers_end = set.uppers + set.shape.uppers_bytes;
  // At least 57 bits from here on. Most buckets hold at most two items: those are compared without a branch.
  const uint64_t ones = load64(set.uppers + (bit >> 3), uppers_end) >> (bit & 7);
  const auto run = static_cast<uint64_t>(std::countr_one(ones));
  const auto first = static_cast<uint32_t>(run > 0) & static_cast<uint32_t>(set.low(i) == wanted);
  const auto second = static_cast<uint32_t>(run > 1) & static_cast<uint32_t>(set.low(i + 1) == wanted);
  bool holds = (first | second) != 0;
  if (run > 2) [[unlikely]] {
    for (uint64_t k = 2; i + k < set.items && (set.uppers[(bit + k) >> 3] >> ((bit + k) & 7) & 1) != 0; ++k) {
      holds |= set.low(i + k) == wanted;
    }
  }
  return holds;
}

// Looks up in a set the candidates that hit its index, and notes the filter where it is the first. A lookup reads
// directory, uppers and lows, which are far apart in the value. So lookups run in batches, and each step prefetches the
// bytes of the next one.
template <typename Select>
BLOOMRING_INLINE void confirm(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found) {
  constexpr size_t kBatch = 64;
  const EliasFanoView set = what.set;
  uint64_t fingerprints[kBatch];
  uint64_t bits[kBatch];
  for (size_t begin = 0; begin < hits.size(); begin += kBatch) {
    const std::span<const uint32_t> batch = hits.subspan(begin, std::min(kBatch, hits.size() - begin));
    for (size_t b = 0; b < batch.size(); ++b) {
      fingerprints[b] = what.candidates[batch[b]].value * what.multiplier >> (64 - set.width_bits);
      const uint64_t bucket = fingerprints[b] >> set.shape.low_bits;
      __builtin_prefetch(set.directory + bucket / kDirectoryBuckets * kDirectoryEntryBytes);
      // Fingerprints are spread evenly: about this many items lie before the bucket.
      const uint64_t before = bucket * set.items >> (set.width_bits - set.shape.low_bits);
      __builtin_prefetch(set.uppers + (bucket + before) / 8);
    }
    for (size_t b = 0; b < batch.size(); ++b) {
      const uint64_t bucket = fingerprints[b] >> set.shape.low_bits;
      bits[b] = bucket_begin<Select>(set, bucket);
      const uint64_t i = bits[b] - bucket;
      if (i < set.items) __builtin_prefetch(set.lows + i * set.shape.low_bits / 8);
    }
    for (size_t b = 0; b < batch.size(); ++b) {
      uint8_t& first = found[batch[b]];
      const uint8_t if_held = std::min(what.filter, first);
      first = bucket_holds(set, fingerprints[b], bits[b]) ? if_held : first;
    }
  }
}

}  // namespace coding

}  // namespace bloomring::filter
