// A small exact set of item hashes, each with a tag, made for testing thousands of candidates against it at once.
//
// A map of 32 or more bytes an item (8 where the set is large) answers most candidates without a branch; candidates
// that pass it are looked up in an open-addressing table of the full 64-bit hashes. The map uses bytes, not bits: the
// map of a usual set stays in the first-level cache either way, and a byte takes no shift. Each request rebuilds the
// set in the same memory. An item's place in the table is random in each process (base/scatter.h); in the map it is
// not, because the map is never searched.
// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"

namespace bloomring {

class ExactSet {
 public:
  static constexpr uint8_t kAbsent = 0;

  // Empties the set and makes room for `items_max` items.
  void reset(size_t items_max);
  // Adds an item under a tag other than kAbsent. The first tag of an item stays.
  void insert(ItemHash item, uint8_t tag);
  // The most slots that the search for an item reads; takes a walk over the table.
  size_t longest_search() const;
  size_t bytes() const { return slots_.capacity() * sizeof(Slot) + map_.capacity(); }
  // Writes for each candidate its tag, or kAbsent.
  void find(std::span<const ItemHash> candidates, std::span<uint8_t> tags);

 private:
  struct Slot {
    uint64_t item;
    uint8_t tag;  // kAbsent is a free slot.
  };

  size_t place(ItemHash item) const;

  size_t items_ = 0;
  size_t mask_ = 0;
  unsigned map_shift_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint8_t> map_;  // 1 where an item may be, by the highest bits.
  std::vector<uint32_t> passed_;
};

}  // namespace bloomring
