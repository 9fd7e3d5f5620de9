// The index of the dense form: a split-block Bloom filter over the fingerprints of a value, in front of the exact set.
//
// A block is 256 bits, eight words of 32, of which an item sets one bit each. Blocks are chosen by fast range from the
// fingerprint, so a block covers a contiguous run of the sorted set. The index is a pure function of the set: it is
// rebuilt when the set grows, so it is never part empty and never too small.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bloomring::filter {

inline constexpr size_t kBlockBytes = 32;
inline constexpr size_t kBlockWords = 8;
// The index begins here, after the header and zeros. In practice a long string's bytes begin 16 bytes after the start
// of a cache line (the allocator's header), so blocks do not straddle lines; this gains 3 %.
inline constexpr size_t kIndexOffset = 16;
// Bytes of a dense value without its sets, directories and index: all before the index, and the checksum.
inline constexpr size_t kDenseFrameBytes = kIndexOffset + 4;

// The odd factors of the split-block Bloom filter of Apache Parquet.
inline constexpr uint32_t kSalts[kBlockWords] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                                 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

struct IndexShape {
  uint64_t block_count = 0;  // 0: no index.
  uint32_t key_bits = 0;
};

// The index inside a value, or a copy of it (query.cc). Borrows: its maker keeps the bytes (format.h, View).
struct IndexView {
  IndexShape shape;
  const uint8_t* blocks = nullptr;
};

// A dense value has a budget of 24 bits an item. The index takes the bits that the sets and their directories
// (`set_bytes`) leave, at least 6 and at most 10 an item: more bits mean fewer lookups in the sets; beyond 10 they cost
// more in cache than they save. A fingerprint's key in the index is its top min(width, 32) bits.
constexpr IndexShape index_shape(uint64_t items, uint64_t set_bytes, uint32_t width_bits) {
  constexpr uint64_t kBlockBits = kBlockBytes * 8;
  const auto blocks_of = [](uint64_t bits) { return (bits + kBlockBits - 1) / kBlockBits; };
  const uint64_t budget_bits = items * 24;
  const uint64_t spent_bits = (set_bytes + kDenseFrameBytes) * 8;
  const uint64_t left = budget_bits > spent_bits ? (budget_bits - spent_bits) / kBlockBits : 0;
  return {std::clamp(left, blocks_of(items * 6), blocks_of(items * 10)), width_bits < 32 ? width_bits : 32};
}
constexpr uint64_t index_block_of(uint32_t key, const IndexShape& shape) {
  return key * shape.block_count >> shape.key_bits;
}
// The bit of a word that a key sets.
constexpr uint32_t index_bit(uint32_t key, size_t word) { return uint32_t{1} << (key * kSalts[word] >> 27); }

void index_add(uint8_t* blocks, const IndexShape& shape, uint32_t key);

// False: the item is certainly not in the set.
bool index_may_hold(const IndexView& index, uint32_t key);

}  // namespace bloomring::filter
