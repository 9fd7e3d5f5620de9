#include "filter/kernels.h"

#include "filter/coding.h"

namespace bloomring::filter {

namespace {

// The place of the n-th set bit (from 0) of a word that has more than n: by bytes, then bit by bit.
struct PortableSelect {
  static uint32_t at(uint64_t word, uint64_t n) {
    uint32_t shift = 0;
    for (uint64_t count; (count = static_cast<uint64_t>(std::popcount(word >> shift & 0xff))) <= n; n -= count)
      shift += 8;
    uint64_t rest = word >> shift;
    for (; n > 0; --n) rest &= rest - 1;
    return shift + static_cast<uint32_t>(std::countr_zero(rest));
  }
};

EliasFanoFault decode(const EliasFanoView& set, uint64_t* out) { return coding::decode_any(set, out); }

EliasFanoFault decode32(const EliasFanoView& set, uint32_t* out) { return coding::decode_any(set, out); }

void encode(const uint64_t* set, uint64_t items, const EliasFanoShape& shape, uint8_t* lows, uint8_t* uppers) {
  coding::encode(set, items, shape, lows, uppers);
}

void build_index(std::span<const uint64_t> set, uint32_t cut_bits, const IndexShape& shape, uint8_t* blocks) {
  for (const uint64_t fingerprint : set) index_add(blocks, shape, static_cast<uint32_t>(fingerprint >> cut_bits));
}

size_t fill_slots(const uint32_t* begin, const uint32_t* end, const SlotFill& fill, uint32_t* collisions) {
  return coding::fill_slots(begin, end, fill, collisions);
}

size_t probe_table(const UnionSlots& table, std::span<const uint32_t> keys, uint32_t* hits, uint32_t* hit_slots) {
  return coding::probe_table(table, keys, 0, 0, hits, hit_slots);
}

void probe_indexes(std::span<const IndexView* const> group, std::span<const uint32_t> keys, IndexHits& hits) {
  for (size_t g = 0; g < group.size(); ++g) {
    uint32_t* const list = hits.of(g);
    size_t count = 0;
    for (size_t c = 0; c < keys.size(); ++c) {
      list[count] = static_cast<uint32_t>(c);
      count += static_cast<size_t>(index_may_hold(*group[g], keys[c] >> (32 - group[g]->shape.key_bits)));
    }
    hits.counts[g] = count;
  }
}

void confirm(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found) {
  coding::confirm<PortableSelect>(what, hits, found);
}

}  // namespace

const Kernels& portable_kernels() {
  static constexpr Kernels kernels{decode,     decode32,    encode,        build_index,
                                   fill_slots, probe_table, probe_indexes, confirm};
  return kernels;
}

const Kernels& best_kernels() {
  static const Kernels& best = avx2_kernels() != nullptr ? *avx2_kernels() : portable_kernels();
  return best;
}

}  // namespace bloomring::filter
