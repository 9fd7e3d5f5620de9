#include "state/filter/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "state/filter/coding.h"

#define BLOOMRING_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace bloomring::filter {

namespace {

struct Bmi2Select {
  BLOOMRING_AVX2 static uint32_t at(uint64_t word, uint64_t n) {
    return static_cast<uint32_t>(_tzcnt_u64(_pdep_u64(uint64_t{1} << n, word)));
  }
};

BLOOMRING_AVX2 size_t probe_table(const UnionTable& table, std::span<const uint32_t> keys, uint32_t* hits) {
  const auto* const slots = reinterpret_cast<const int*>(table.slots.data());
  const __m128i slot_shift = _mm_cvtsi32_si128(static_cast<int>(32 - table.slot_bits));
  const __m128i content_shift = _mm_cvtsi32_si128(static_cast<int>(table.content_shift));
  const __m256i content_mask = _mm256_set1_epi32(static_cast<int>(table.content_mask));
  const __m256i number_mask = _mm256_set1_epi32(0xff);
  size_t count = 0;
  size_t c = 0;
  for (; c + 8 <= keys.size(); c += 8) {
    const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys.data() + c));
    const __m256i slot = _mm256_i32gather_epi32(slots, _mm256_srl_epi32(key, slot_shift), 4);
    const __m256i content = _mm256_and_si256(_mm256_srl_epi32(key, content_shift), content_mask);
    const __m256i equal = _mm256_cmpeq_epi32(_mm256_srli_epi32(slot, 8), content);
    const __m256i empty = _mm256_cmpeq_epi32(slot, _mm256_setzero_si256());
    const __m256i multi = _mm256_cmpeq_epi32(_mm256_and_si256(slot, number_mask), number_mask);
    const __m256i hit = _mm256_or_si256(_mm256_andnot_si256(empty, equal), multi);
    auto bits = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(hit)));
    for (; bits != 0; bits &= bits - 1) hits[count++] = static_cast<uint32_t>(c) + _tzcnt_u32(bits);
  }
  for (; c < keys.size(); ++c) {
    hits[count] = static_cast<uint32_t>(c);
    count += static_cast<size_t>(table.may_hold(keys[c]));
  }
  return count;
}

BLOOMRING_AVX2 inline __m256i mask_of(uint32_t key) {
  const __m256i salts = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kSalts));
  const __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(key)), salts);
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(products, 27));
}

// A sorted set fills one block after the other, so a block stays in a register until it is complete.
BLOOMRING_AVX2 void build_index(std::span<const uint64_t> set, uint32_t cut_bits, const IndexShape& shape,
                                uint8_t* blocks) {
  uint64_t last = ~uint64_t{0};
  __m256i block = _mm256_setzero_si256();
  for (const uint64_t fingerprint : set) {
    const auto key = static_cast<uint32_t>(fingerprint >> cut_bits);
    const uint64_t at = index_block_of(key, shape);
    if (at != last) {
      if (last != ~uint64_t{0}) _mm256_storeu_si256(reinterpret_cast<__m256i*>(blocks + last * kBlockBytes), block);
      block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(blocks + at * kBlockBytes));
      last = at;
    }
    block = _mm256_or_si256(block, mask_of(key));
  }
  if (last != ~uint64_t{0}) _mm256_storeu_si256(reinterpret_cast<__m256i*>(blocks + last * kBlockBytes), block);
}

template <size_t kGroup>
BLOOMRING_AVX2 void probe_group(std::span<const IndexView* const> group, std::span<const uint32_t> keys,
                                uint32_t* const* hits, size_t* hit_counts) {
  const uint8_t* blocks[kGroup];
  uint64_t block_counts[kGroup];
  uint32_t* out[kGroup];
  for (size_t g = 0; g < kGroup; ++g) {
    blocks[g] = group[g]->blocks;
    block_counts[g] = group[g]->shape.block_count;
    out[g] = hits[g];
  }
  const uint32_t key_bits = group[0]->shape.key_bits;
  for (size_t c = 0; c < keys.size(); ++c) {
    const uint32_t key = keys[c] >> (32 - key_bits);
    const __m256i mask = mask_of(key);
    for (size_t g = 0; g < kGroup; ++g) {
      const uint8_t* const at = blocks[g] + index_block_of(key, {block_counts[g], key_bits}) * kBlockBytes;
      *out[g] = static_cast<uint32_t>(c);
      out[g] += _mm256_testc_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), mask);
    }
  }
  for (size_t g = 0; g < kGroup; ++g) hit_counts[g] = static_cast<size_t>(out[g] - hits[g]);
}

BLOOMRING_AVX2 void probe_indexes(std::span<const IndexView* const> group, std::span<const uint32_t> keys,
                                  uint32_t* const* hits, size_t* hit_counts) {
  switch (group.size()) {
    case 1: return probe_group<1>(group, keys, hits, hit_counts);
    case 2: return probe_group<2>(group, keys, hits, hit_counts);
    case 3: return probe_group<3>(group, keys, hits, hit_counts);
    case kIndexGroupMax: return probe_group<kIndexGroupMax>(group, keys, hits, hit_counts);
  }
}

BLOOMRING_AVX2 EliasFanoFault decode(const EliasFanoView& set, uint64_t* out) { return coding::decode_any(set, out); }

BLOOMRING_AVX2 void encode(const uint64_t* set, uint64_t items, const EliasFanoShape& shape, uint8_t* lows,
                           uint8_t* uppers) {
  coding::encode(set, items, shape, lows, uppers);
}

BLOOMRING_AVX2 void confirm(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found) {
  coding::confirm<Bmi2Select>(what, hits, found);
}

}  // namespace

const Kernels* avx2_kernels() {
  static constexpr Kernels kernels{decode, encode, build_index, probe_table, probe_indexes, confirm};
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                                __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return supported ? &kernels : nullptr;
}

}  // namespace bloomring::filter

#else

namespace bloomring::filter {

const Kernels* avx2_kernels() { return nullptr; }

}  // namespace bloomring::filter

#endif
