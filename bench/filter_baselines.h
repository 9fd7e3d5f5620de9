// The Bloom filters that our filters are measured against: split-block, 256-bit blocks, AVX2.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"

namespace bloomring {

inline constexpr size_t kBaselineFiltersMax = 8;

// 32 bytes of blocks, aligned to them.
struct Blocks {
  explicit Blocks(uint64_t block_count);
  void add(uint64_t key);
  size_t bytes() const { return count * 32; }

  uint64_t count;
  std::unique_ptr<uint32_t, decltype(&std::free)> words;
};

// Its number of items was known when it was made (which it never is online): 14.07 bits an item give 0.25 %.
struct ExactBloom {
  explicit ExactBloom(size_t items) : blocks((items * 1407 / 100 + 255) / 256) {}
  void add(uint64_t key) { blocks.add(key); }
  size_t bytes() const { return blocks.bytes(); }

  Blocks blocks;
};

// Grows by layers of four times the size, the budget of 0.25 % split equally over five of them: 19.3 bits an item.
struct GrowingBloom {
  void add(uint64_t key);
  size_t bytes() const;

  std::vector<Blocks> layers;
  size_t room = 0;
};

// The first filter that holds each candidate, or 0xff.
void exact_bloom_query(std::span<const ExactBloom> filters, std::span<const ItemHash> candidates, uint64_t multiplier,
                       std::span<uint8_t> found);
void growing_bloom_query(std::span<const GrowingBloom> filters, std::span<const ItemHash> candidates,
                         uint64_t multiplier, std::span<uint8_t> found);

}  // namespace bloomring
