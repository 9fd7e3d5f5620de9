// The inner loops, for each instruction set. All give the same results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "filter/elias_fano.h"
#include "filter/index.h"

namespace bloomring::filter {

// Hits of an index to confirm in an exact set of the same filter.
struct Confirmation {
  const EliasFanoView& set;
  std::span<const ItemHash> candidates;
  uint64_t multiplier;
  uint8_t filter;
};

// The slots of a UnionTable (union_table.h).
struct UnionSlots {
  // A slot: content << 8 | number of the set + 1, or first link << 8 | kChain. 0 is empty. (A content has at most 22
  // bits, so 24 ones are free to mean any content.)
  static constexpr uint32_t kNumberBits = 8;
  static constexpr uint32_t kNumberMask = 0xff;
  static constexpr uint32_t kChain = 0xff;

  // Key: the top 32 bits of hash * multiplier.
  uint32_t slot_of(uint32_t key) const { return slots[key >> (32 - slot_bits)]; }
  // False: the item with this key and slot is certainly in no set.
  bool may_hold(uint32_t slot, uint32_t key) const {
    return (slot >> kNumberBits == (key >> content_shift & content_mask) && slot != 0) ||
           (slot & kNumberMask) == kChain;
  }

  std::vector<uint32_t> slots;
  uint32_t slot_bits = 0;
  uint32_t content_shift = 0;
  uint32_t content_mask = 0;
};

// How fingerprints become UnionSlots.
struct SlotFill {
  uint32_t cut_bits;      // From a fingerprint to the key that is compared.
  uint32_t content_bits;  // From a key to its slot.
  uint32_t content_mask;
  uint32_t number;
  uint32_t* slots;
};

// This many indexes are probed together, with one mask a candidate.
inline constexpr size_t kIndexGroupMax = 4;

// The hits of each index of a group; a list has `room` places.
struct IndexHits {
  uint32_t* of(size_t g) { return lists.data() + g * room; }

  std::vector<uint32_t> lists;
  size_t room = 0;
  size_t counts[kIndexGroupMax] = {};
};

// Candidates are numbered; a probe writes the numbers of those that hit, in ascending order, and returns how many. Its
// outputs have room for all candidates and kHitsMore. A key is the top 32 bits of hash * multiplier.
inline constexpr size_t kHitsMore = 8;
inline constexpr size_t kDecodeMore = 8;
struct Kernels {
  EliasFanoFault (*decode)(const EliasFanoView& set, uint64_t* out);
  // For widths of at most 32 bits. `out` has room for kDecodeMore more.
  EliasFanoFault (*decode32)(const EliasFanoView& set, uint32_t* out);
  void (*encode)(const uint64_t* set, uint64_t items, const EliasFanoShape& shape, uint8_t* lows, uint8_t* uppers);
  // Adds the items of a sorted set to zeroed or filled blocks. A fingerprint without its low `cut_bits` is its index
  // key.
  void (*build_index)(std::span<const uint64_t> set, uint32_t cut_bits, const IndexShape& shape, uint8_t* blocks);
  // Fills empty slots; writes the keys whose slot was taken to `collisions`, and returns their number.
  size_t (*fill_slots)(const uint32_t* begin, const uint32_t* end, const SlotFill& fill, uint32_t* collisions);
  // Also writes the slot of each hit.
  size_t (*probe_table)(const UnionSlots& table, std::span<const uint32_t> keys, uint32_t* hits, uint32_t* hit_slots);
  // Probes 1 to kIndexGroupMax indexes of the same key_bits; writes a list of hits for each.
  void (*probe_indexes)(std::span<const IndexView* const> group, std::span<const uint32_t> keys, IndexHits& hits);
  void (*confirm)(const Confirmation& what, std::span<const uint32_t> hits, uint8_t* found);
};

const Kernels& portable_kernels();
// Null when this machine, or the architecture, has no AVX2 and BMI2.
const Kernels* avx2_kernels();
// The fastest that this machine has.
const Kernels& best_kernels();

}  // namespace bloomring::filter
