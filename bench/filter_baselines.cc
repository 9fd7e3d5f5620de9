#include "bench/filter_baselines.h"

#include <immintrin.h>

#include <cstring>

#define BASELINE_AVX2 __attribute__((target("avx2")))

namespace bloomring {

namespace {

constexpr uint32_t kSalts[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

// The mask is computed once for all filters of a candidate.
BASELINE_AVX2 inline __m256i mask_of(uint64_t key) {
  const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kSalts));
  const __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(key)), salts);
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(products, 27));
}

BASELINE_AVX2 inline bool block_holds(const uint32_t* words, uint64_t count, uint64_t key, __m256i mask) {
  const uint64_t block = (key >> 32) * count >> 32;
  return _mm256_testc_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(words + block * 8)), mask) != 0;
}

}  // namespace

Blocks::Blocks(uint64_t block_count)
    : count(block_count == 0 ? 1 : block_count),
      words(static_cast<uint32_t*>(std::aligned_alloc(32, count * 32)), &std::free) {
  std::memset(words.get(), 0, count * 32);
}

void Blocks::add(uint64_t key) {
  uint32_t* const block = words.get() + ((key >> 32) * count >> 32) * 8;
  for (size_t i = 0; i < 8; ++i) block[i] |= uint32_t{1} << (static_cast<uint32_t>(key) * kSalts[i] >> 27);
}

void GrowingBloom::add(uint64_t key) {
  if (room == 0) {
    room = size_t{512} << 2 * layers.size();
    layers.emplace_back((room * 193 / 10 + 255) / 256);
  }
  --room;
  layers.back().add(key);
}

size_t GrowingBloom::bytes() const {
  size_t sum = 0;
  for (const Blocks& layer : layers) sum += layer.bytes();
  return sum;
}

BASELINE_AVX2 void exact_bloom_query(std::span<const ExactBloom> filters, std::span<const ItemHash> candidates,
                                     uint64_t multiplier, std::span<uint8_t> found) {
  const uint32_t* words[kBaselineFiltersMax];
  uint64_t counts[kBaselineFiltersMax];
  for (size_t f = 0; f < filters.size(); ++f) {
    words[f] = filters[f].blocks.words.get();
    counts[f] = filters[f].blocks.count;
  }
  for (size_t c = 0; c < candidates.size(); ++c) {
    const uint64_t key = candidates[c].value * multiplier;
    const __m256i mask = mask_of(key);
    uint32_t first = 0xff;  // Branch-free, oldest first, so that the newest wins.
    for (size_t f = filters.size(); f-- > 0;) {
      first = block_holds(words[f], counts[f], key, mask) ? static_cast<uint32_t>(f) : first;
    }
    found[c] = static_cast<uint8_t>(first);
  }
}

BASELINE_AVX2 void growing_bloom_query(std::span<const GrowingBloom> filters, std::span<const ItemHash> candidates,
                                       uint64_t multiplier, std::span<uint8_t> found) {
  for (size_t c = 0; c < candidates.size(); ++c) {
    const uint64_t key = candidates[c].value * multiplier;
    const __m256i mask = mask_of(key);
    uint32_t first = 0xff;
    for (size_t f = filters.size(); f-- > 0;) {
      for (const Blocks& layer : filters[f].layers) {
        first = block_holds(layer.words.get(), layer.count, key, mask) ? static_cast<uint32_t>(f) : first;
      }
    }
    found[c] = static_cast<uint8_t>(first);
  }
}

}  // namespace bloomring
