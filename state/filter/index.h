// The index of the dense form: a split-block Bloom filter over the fingerprints of a value, in front of the exact set.
//
// A block is 256 bits, eight words of 32, of which an item sets one bit each. Blocks are chosen by fast range from the
// fingerprint, so a block covers a contiguous run of the sorted set. The index is a pure function of the set: it is
// rebuilt when the set grows, so it is never part empty and never too small.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace bloomring::filter {

inline constexpr size_t kBlockBytes = 32;
inline constexpr size_t kBlockWords = 8;
inline constexpr uint64_t kIndexBitsPerItem = 8;

// The odd factors of the split-block Bloom filter of Apache Parquet.
inline constexpr uint32_t kSalts[kBlockWords] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                                 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

struct IndexView {
  uint64_t block_count = 0;
  const uint8_t* blocks = nullptr;
};

uint64_t index_block_count(uint64_t items);

}  // namespace bloomring::filter
