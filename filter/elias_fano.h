// A sorted set of n distinct fingerprints of w bits, Elias-Fano coded: 2 + w - log2(n) bits an item.
//
// With q = min(w, ceil(log2 n)) and r = w - q, the low r bits of each fingerprint lie side by side (lows), and the
// high q bits are a bit string (uppers) in which bit (f >> r) + i is set for the i-th fingerprint f. The length is a
// pure function of (n, w), and a set has exactly one coding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/bits.h"

namespace bloomring::filter {

// Fingerprints in ascending order without repeats.
using Fingerprints = std::vector<uint64_t>;

inline constexpr uint32_t kWidthBitsMax = 56;            // A low part at any bit offset lies in one 8-byte load.
inline constexpr uint64_t kItemsFormatMax = 0xffffffff;  // The format counts in 32 bits.

struct EliasFanoShape {
  uint32_t low_bits = 0;  // r
  uint64_t buckets = 0;   // 2^q
  uint64_t lows_bytes = 0;
  uint64_t uppers_bytes = 0;

  uint64_t directory_bytes = 0;  // Written with an index only.

  uint64_t bytes() const { return lows_bytes + uppers_bytes; }
};

// A directory makes single lookups quick: entry k (from 1 on) is the number of items in the buckets before k * 64.
inline constexpr uint64_t kDirectoryBuckets = 64;
inline constexpr size_t kDirectoryEntryBytes = 4;

// For 1 <= items <= min(2^width_bits, kItemsFormatMax) and 1 <= width_bits <= kWidthBitsMax.
EliasFanoShape elias_fano_shape(uint64_t items, uint32_t width_bits);

// Appends the directory of a set that is not empty.
void elias_fano_append_directory(std::span<const uint64_t> set, uint32_t width_bits, std::string& out);

// A coded set inside a value. Borrows: the caller of `parse` keeps the bytes of the value (format.h, View).
struct EliasFanoView {
  uint64_t items = 0;  // 0: no such set.
  uint32_t width_bits = 0;
  EliasFanoShape shape;
  const uint8_t* lows = nullptr;
  const uint8_t* uppers = nullptr;
  const uint8_t* directory = nullptr;  // With an index only.
  const uint8_t* end = nullptr;        // The end of the value: no read passes it.

  // The low bits of the i-th fingerprint, i <= items.
  uint64_t low(uint64_t i) const {
    const uint64_t bit = i * shape.low_bits;
    return load64(lows + (bit >> 3), end) >> (bit & 7) & low_mask(shape.low_bits);
  }
};

enum class EliasFanoFault : uint8_t { kNone, kTooMany, kTooFew, kNotAscending, kTooWide };
Status elias_fano_status(EliasFanoFault fault);

}  // namespace bloomring::filter
