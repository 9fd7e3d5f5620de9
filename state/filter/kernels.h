// The inner loops, for each instruction set. All give the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "state/filter/elias_fano.h"
#include "state/filter/index.h"
#include "state/filter/union_table.h"

namespace bloomring::filter {

// What is to be confirmed by the exact sets of a filter with an index.
struct Confirmation {
  const EliasFanoView& narrow;
  const EliasFanoView& wide;
  std::span<const ItemHash> candidates;
  uint64_t multiplier;
  uint8_t filter;
};

// So many indexes are probed together, with one mask a candidate.
inline constexpr size_t kIndexGroupMax = 4;

// Candidates are numbered; a probe writes the numbers of those that hit, in ascending order, and returns how many.
// `hits` has room for all candidates and one more. A key is the top 32 bits of hash * multiplier.
struct Kernels {
  EliasFanoFault (*decode)(const EliasFanoView& set, uint64_t* out);
  void (*encode)(const uint64_t* set, uint64_t items, const EliasFanoShape& shape, uint8_t* lows, uint8_t* uppers);
  // Adds the items of a sorted set to zeros, or to other items; `cut_bits` lead from a fingerprint to its index key.
  void (*build_index)(std::span<const uint64_t> set, uint32_t cut_bits, const IndexShape& shape, uint8_t* blocks);
  size_t (*probe_table)(const UnionTable& table, std::span<const uint32_t> keys, uint32_t* hits);
  // Of 1 to kIndexGroupMax indexes of the same key_bits.
  void (*probe_indexes)(std::span<const IndexView* const> group, std::span<const uint32_t> keys, uint32_t* const* hits,
                        size_t* hit_counts);
  void (*confirm)(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found);
};

const Kernels& portable_kernels();
// Null when this machine, or the architecture, has no AVX2 and BMI2.
const Kernels* avx2_kernels();
// The fastest that this machine has.
const Kernels& best_kernels();

}  // namespace bloomring::filter
