// All the sparse sets of a query in one small table, so that one access tests a candidate against all of them.
//
// A slot is chosen by the top bits of a candidate's key. It holds the bits after those (the content) and the number of
// the set, so that a match is exact unless sets differ in width. Where items meet in a slot it leads to a chain. Newer
// sets are added first and win. Derived data: built for each query, in reused memory.
#pragma once

#include <cstdint>
#include <vector>

#include "state/filter/elias_fano.h"

namespace bloomring::filter {

class UnionTable {
 public:
  static constexpr uint8_t kNoFilter = 0xff;

  // Where `add` expects a decoded set to be appended.
  Fingerprints& fingerprints() { return fingerprints_; }
  // Takes the fingerprints [begin, end) as a set of a filter.
  void add(uint8_t filter, uint32_t width_bits, size_t begin, size_t end);
  // Fills the slots; after the last `add`.
  void build();
  void clear();
  bool empty() const { return sets_.empty(); }

  // Key: the top 32 bits of hash * multiplier. False: the item is certainly in no set.
  bool may_hold(uint32_t key) const {
    const uint32_t slot = slots[key >> (32 - slot_bits)];
    return (slot >> kNumberBits == (key >> content_shift & content_mask) && slot != 0) ||
           (slot & kNumberMask) == kChain;
  }
  // The first filter that holds the item, or kNoFilter. `full_key` is all of hash * multiplier.
  uint8_t resolve(uint64_t full_key) const;

  // A slot: content << 8 | number of the set + 1, or first link << 8 | kChain. 0 is empty.
  static constexpr uint32_t kNumberBits = 8;
  static constexpr uint32_t kNumberMask = 0xff;
  static constexpr uint32_t kChain = 0xff;
  std::vector<uint32_t> slots;
  uint32_t slot_bits = 0;
  uint32_t content_shift = 0;
  uint32_t content_mask = 0;

 private:
  struct Set {
    uint8_t filter = 0;  // Index in order of Query::add.
    uint32_t width_bits = 0;
    size_t begin = 0;
    size_t end = 0;
  };
  struct Link {
    uint32_t content = 0;
    uint32_t number = 0;
    uint32_t next = 0;
  };

  void insert(uint32_t number);
  void insert_everywhere(uint32_t number);
  void chain(uint32_t& slot, uint32_t content, uint32_t number);
  bool holds(const Set& set, uint64_t full_key) const;

  std::vector<Set> sets_;
  Fingerprints fingerprints_;  // Of all sets, one after the other.
  std::vector<Link> links_;
  uint32_t compared_bits_ = 0;  // Slot and content together.
};

}  // namespace bloomring::filter
