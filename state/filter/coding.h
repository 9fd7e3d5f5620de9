// The loops over coded sets: decode, encode, index, look up. Written once, always inlined, and compiled for each
// instruction set by kernels.cc and kernels_avx2.cc (shifts and bit counts take half the time with BMI2). Nothing here
// reads outside the value, whatever its bytes.
#pragma once

#include "state/filter/bits.h"
#include "state/filter/elias_fano.h"
#include "state/filter/kernels.h"

#define BLOOMRING_INLINE [[gnu::always_inline]] inline

namespace bloomring::filter {

namespace coding {

// `fast`: eight bytes can be read from every low part.
template <bool fast>
BLOOMRING_INLINE EliasFanoFault decode(const EliasFanoView& set, uint64_t* out) {
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
      out[i++] = fingerprint;
      low_at += low_bits;
    }
  }
  if (i != items) return EliasFanoFault::kTooFew;
  if (!ascends) return EliasFanoFault::kNotAscending;
  return static_cast<uint64_t>(last) >> set.width_bits != 0 ? EliasFanoFault::kTooWide : EliasFanoFault::kNone;
}

BLOOMRING_INLINE EliasFanoFault decode_any(const EliasFanoView& set, uint64_t* out) {
  const bool fast = set.lows + set.shape.lows_bytes + 7 <= set.end;
  return fast ? decode<true>(set, out) : decode<false>(set, out);
}

// Both parts of a set, into zeros.
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

template <typename Select>
BLOOMRING_INLINE bool look_up(const EliasFanoView& set, uint64_t fingerprint) {
  const uint64_t bucket = fingerprint >> set.shape.low_bits;
  const uint64_t stride = bucket / kDirectoryBuckets;
  uint32_t before = 0;
  if (stride > 0) std::memcpy(&before, set.directory + (stride - 1) * kDirectoryEntryBytes, kDirectoryEntryBytes);

  // Items are ones and ends of buckets are zeros: the bucket starts behind as many zeros as its number.
  const uint8_t* const uppers_end = set.uppers + set.shape.uppers_bytes;
  const uint64_t upper_bits = set.shape.uppers_bytes * 8;
  uint64_t bit = stride * kDirectoryBuckets + before;
  uint64_t zeros_left = bucket % kDirectoryBuckets;
  if (bit >= upper_bits) return false;
  if (zeros_left > 0) {
    uint64_t base = bit & ~uint64_t{63};
    uint64_t zeros = ~load64(set.uppers + base / 8, uppers_end) & ~uint64_t{0} << (bit & 63);
    for (uint64_t count; (count = static_cast<uint64_t>(std::popcount(zeros))) < zeros_left; zeros_left -= count) {
      base += 64;
      if (base >= upper_bits) return false;
      zeros = ~load64(set.uppers + base / 8, uppers_end);
    }
    bit = base + Select::at(zeros, zeros_left - 1) + 1;
  }
  const uint64_t wanted = fingerprint & low_mask(set.shape.low_bits);
  for (uint64_t i = bit - bucket; i < set.items && bit < upper_bits; ++i, ++bit) {
    if ((set.uppers[bit >> 3] >> (bit & 7) & 1) == 0) return false;
    if (const uint64_t found = set.low(i); found >= wanted) return found == wanted;
  }
  return false;
}

// Asks the sets of one filter for the candidates that hit its index, and notes the filter where it is the first.
template <typename Select>
BLOOMRING_INLINE void confirm(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found) {
  for (const uint32_t c : hits) {
    const uint64_t key = what.candidates[c].value * what.multiplier;
    const bool holds =
        (what.narrow.items > 0 && look_up<Select>(what.narrow, key >> (64 - what.narrow.width_bits))) ||
        (what.wide.items > 0 && look_up<Select>(what.wide, key >> (64 - what.wide.width_bits)));
    if (holds && what.filter < found[c]) found[c] = what.filter;
  }
}

}  // namespace coding

}  // namespace bloomring::filter
