#include "filter/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>

#include "filter/coding.h"

#define BLOOMRING_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace bloomring::filter {

namespace {

struct Bmi2Select {
  BLOOMRING_AVX2 static uint32_t at(uint64_t word, uint64_t n) {
    return static_cast<uint32_t>(_tzcnt_u64(_pdep_u64(uint64_t{1} << n, word)));
  }
};

BLOOMRING_AVX2 size_t fill_slots(const uint32_t* begin, const uint32_t* end, const SlotFill& fill,
                                 uint32_t* collisions) {
  return coding::fill_slots(begin, end, fill, collisions);
}

// The order that brings the lanes of `bits` to the front.
BLOOMRING_AVX2 inline __m256i lanes_first(uint32_t bits) {
  const uint64_t bytes = _pdep_u64(bits, 0x0101010101010101) * 0xff;
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(_pext_u64(0x0706050403020100, bytes))));
}

BLOOMRING_AVX2 size_t probe_table(const UnionSlots& table, std::span<const uint32_t> keys, uint32_t* hits,
                                  uint32_t* hit_slots) {
  const auto* const slots = reinterpret_cast<const int*>(table.slots.data());
  const __m128i slot_shift = _mm_cvtsi32_si128(static_cast<int>(32 - table.slot_bits));
  const __m128i content_shift = _mm_cvtsi32_si128(static_cast<int>(table.content_shift));
  const __m256i content_mask = _mm256_set1_epi32(static_cast<int>(table.content_mask));
  const __m256i number_mask = _mm256_set1_epi32(0xff);
  const __m256i eight = _mm256_set1_epi32(8);
  __m256i candidate = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  size_t count = 0;
  size_t c = 0;
  for (; c + 8 <= keys.size(); c += 8, candidate = _mm256_add_epi32(candidate, eight)) {
    const __m256i key = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys.data() + c));
    const __m256i slot = _mm256_i32gather_epi32(slots, _mm256_srl_epi32(key, slot_shift), 4);
    const __m256i content = _mm256_and_si256(_mm256_srl_epi32(key, content_shift), content_mask);
    const __m256i equal = _mm256_cmpeq_epi32(_mm256_srli_epi32(slot, 8), content);
    const __m256i empty = _mm256_cmpeq_epi32(slot, _mm256_setzero_si256());
    const __m256i multi = _mm256_cmpeq_epi32(_mm256_and_si256(slot, number_mask), number_mask);
    const __m256i hit = _mm256_or_si256(_mm256_andnot_si256(empty, equal), multi);
    const auto bits = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(hit)));
    const __m256i order = lanes_first(bits);
    // Writes all eight; the next step overwrites those that are no hits.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(hits + count), _mm256_permutevar8x32_epi32(candidate, order));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(hit_slots + count), _mm256_permutevar8x32_epi32(slot, order));
    count += static_cast<size_t>(_mm_popcnt_u32(bits));
  }
  return coding::probe_table(table, keys, c, count, hits, hit_slots);
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
                                IndexHits& hits) {
  const uint8_t* blocks[kGroup];
  uint64_t block_counts[kGroup];
  uint32_t* ends[kGroup];
  for (size_t g = 0; g < kGroup; ++g) {
    blocks[g] = group[g]->blocks;
    block_counts[g] = group[g]->shape.block_count;
    ends[g] = hits.of(g);
  }
  const uint32_t key_bits = group[0]->shape.key_bits;
  for (size_t c = 0; c < keys.size(); ++c) {
    const uint32_t key = keys[c] >> (32 - key_bits);
    const __m256i mask = mask_of(key);
    for (size_t g = 0; g < kGroup; ++g) {
      const uint8_t* const at = blocks[g] + index_block_of(key, {block_counts[g], key_bits}) * kBlockBytes;
      *ends[g] = static_cast<uint32_t>(c);
      ends[g] += _mm256_testc_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), mask);
    }
  }
  for (size_t g = 0; g < kGroup; ++g) hits.counts[g] = static_cast<size_t>(ends[g] - hits.of(g));
}

BLOOMRING_AVX2 void probe_indexes(std::span<const IndexView* const> group, std::span<const uint32_t> keys,
                                  IndexHits& hits) {
  switch (group.size()) {
    case 1: return probe_group<1>(group, keys, hits);
    case 2: return probe_group<2>(group, keys, hits);
    case 3: return probe_group<3>(group, keys, hits);
    case kIndexGroupMax: return probe_group<kIndexGroupMax>(group, keys, hits);
  }
}

// For each byte and each of its ones, the zeros before it in the byte: how many buckets it is after the byte's start.
constexpr std::array<uint64_t, 256> kZerosBefore = [] {
  std::array<uint64_t, 256> zeros{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t ones = 0;
    for (uint32_t place = 0; place < 8; ++place) {
      if ((byte >> place & 1) != 0) zeros[byte] |= static_cast<uint64_t>(place - ones) << 8 * ones, ++ones;
    }
  }
  return zeros;
}();

// The buckets of all items, a byte of the uppers at a time; writes up to kDecodeMore values after them.
BLOOMRING_AVX2 inline EliasFanoFault decode_buckets(const EliasFanoView& set, uint32_t* out) {
  const uint8_t* const uppers_end = set.uppers + set.shape.uppers_bytes;
  uint64_t i = 0;
  for (uint64_t base = 0; base < set.shape.uppers_bytes * 8; base += 64) {
    const uint64_t word = load64(set.uppers + base / 8, uppers_end);
    if (i + static_cast<uint64_t>(_mm_popcnt_u64(word)) > set.items) return EliasFanoFault::kTooMany;
    for (uint64_t bit = 0; bit < 64; bit += 8) {
      const uint64_t byte = word >> bit & 0xff;
      const __m256i zeros = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(kZerosBefore[byte])));
      const __m256i first = _mm256_set1_epi32(static_cast<int>(base + bit - i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_add_epi32(zeros, first));
      i += static_cast<uint64_t>(_mm_popcnt_u64(byte));
    }
  }
  return i == set.items ? EliasFanoFault::kNone : EliasFanoFault::kTooFew;
}

BLOOMRING_AVX2 EliasFanoFault decode(const EliasFanoView& set, uint64_t* out) { return coding::decode_any(set, out); }

// Buckets first, one by one; then the low parts of eight fingerprints at once, each in its own four bytes.
BLOOMRING_AVX2 EliasFanoFault decode32(const EliasFanoView& set, uint32_t* out) {
  const uint32_t low_bits = set.shape.low_bits;
  constexpr uint32_t kLowBitsMax = 25;  // At any of 8 bit offsets in four bytes.
  const uint64_t items = set.items;
  if (low_bits > kLowBitsMax || items < 8) return coding::decode_any(set, out);

  if (const EliasFanoFault fault = decode_buckets(set, out); fault != EliasFanoFault::kNone) return fault;
  if (out[items - 1] >= set.shape.buckets) return EliasFanoFault::kTooWide;

  // Eight low parts are low_bits bytes, so they lie in the same way in each group of eight: four of them in the 16
  // bytes from its start, four in the 16 bytes from its middle.
  alignas(32) uint8_t places[32];
  alignas(32) uint32_t shifts[8];
  const uint32_t middle = 4 * low_bits / 8;
  for (uint32_t k = 0; k < 8; ++k) {
    shifts[k] = k * low_bits % 8;
    for (uint32_t b = 0; b < 4; ++b)
      places[4 * k + b] = static_cast<uint8_t>(k * low_bits / 8 - (k < 4 ? 0 : middle) + b);
  }
  const __m256i place = _mm256_load_si256(reinterpret_cast<const __m256i*>(places));
  const __m256i shift = _mm256_load_si256(reinterpret_cast<const __m256i*>(shifts));
  const __m128i bucket_shift = _mm_cvtsi32_si128(static_cast<int>(low_bits));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(low_mask(low_bits)));
  const __m256i rotate = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
  const __m256i sign = _mm256_set1_epi32(INT32_MIN);  // Unsigned order by signed comparison.
  __m256i last = _mm256_setzero_si256();
  __m256i ascends = _mm256_set1_epi32(-1);
  uint64_t at = 0;
  const uint8_t* lows = set.lows;
  for (; at + 8 <= items && lows + middle + 16 <= set.end; at += 8, lows += low_bits) {
    const __m256i bytes =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(lows))),
                                _mm_loadu_si128(reinterpret_cast<const __m128i*>(lows + middle)), 1);
    const __m256i low = _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(bytes, place), shift), mask);
    auto* const to = reinterpret_cast<__m256i*>(out + at);
    const __m256i fingerprints = _mm256_or_si256(_mm256_sll_epi32(_mm256_loadu_si256(to), bucket_shift), low);
    _mm256_storeu_si256(to, fingerprints);
    const __m256i rotated = _mm256_permutevar8x32_epi32(_mm256_xor_si256(fingerprints, sign), rotate);
    const __m256i before = _mm256_blend_epi32(rotated, last, 1);
    ascends = _mm256_and_si256(ascends, _mm256_cmpgt_epi32(_mm256_xor_si256(fingerprints, sign), before));
    if (at == 0) ascends = _mm256_or_si256(ascends, _mm256_setr_epi32(-1, 0, 0, 0, 0, 0, 0, 0));  // Nothing before it.
    last = rotated;
  }
  bool in_order = _mm256_movemask_epi8(ascends) == -1;
  for (; at < items; ++at) {
    out[at] = out[at] << low_bits | static_cast<uint32_t>(set.low(at));
    in_order &= at == 0 || out[at] > out[at - 1];
  }
  return in_order ? EliasFanoFault::kNone : EliasFanoFault::kNotAscending;
}

BLOOMRING_AVX2 void encode(const uint64_t* set, uint64_t items, const EliasFanoShape& shape, uint8_t* lows,
                           uint8_t* uppers) {
  coding::encode(set, items, shape, lows, uppers);
}

BLOOMRING_AVX2 void confirm(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found) {
  coding::confirm<Bmi2Select>(what, hits, found);
}

}  // namespace

const Kernels* avx2_kernels() {
  static constexpr Kernels kernels{decode,     decode32,    encode,        build_index,
                                   fill_slots, probe_table, probe_indexes, confirm};
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
