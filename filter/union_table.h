// All the sparse sets of a query in one small table, so that one access tests a candidate against all of them.
//
// A slot is chosen by the top bits of a candidate's key. It holds the bits after those (the content) and the number of
// the set, so that a match is exact unless sets differ in width. A slot that several items share leads to a chain.
// Newer sets are added first and win. Derived data: built for each query, in reused memory.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "filter/elias_fano.h"
#include "filter/kernels.h"

namespace bloomring::filter {

class UnionTable : public UnionSlots {
 public:
  static constexpr uint8_t kNoFilter = 0xff;

  explicit UnionTable(const Kernels& kernels) : kernels_(&kernels) {}

  // Takes the sets of a filter (items 0: no set). Failure adds nothing.
  Status add(uint8_t filter, const EliasFanoView& narrow, const EliasFanoView& wide);
  // Fills the slots; after the last `add`.
  void build();
  void clear();
  bool empty() const { return sets_.empty(); }
  // The first filter that holds the item of a slot that may hold it, or kNoFilter. `full_key` is all of
  // hash * multiplier.
  uint8_t resolve(uint32_t slot, uint64_t full_key) const {
    const bool is_exact = all_exact_ && (slot & kNumberMask) != kChain;
    return is_exact ? sets_[(slot & kNumberMask) - 1].filter : resolve_slowly(slot, full_key);
  }

 private:
  // A decoded set: a range of keys_, or of long_keys_ when it is wider than 32 bits.
  struct Set {
    uint8_t filter = 0;  // Index in order of Query::add.
    uint32_t width_bits = 0;
    size_t begin = 0;
    size_t end = 0;
    size_t next = 0;  // The first that is not yet in the table.

    bool is_long() const { return width_bits > 32; }
  };
  // An entry whose slot was taken, and the slot's value before it.
  struct Link {
    uint32_t entry = 0;
    uint32_t rest = 0;
  };

  Status decode(uint8_t filter, const EliasFanoView& set);
  template <typename Int>
  void insert(const Int* keys, uint32_t number, uint64_t slots_end);
  template <typename Int>
  void insert_everywhere(const Int* keys, uint32_t number);
  void chain(uint32_t& slot, uint32_t entry);
  bool holds(const Set& set, uint64_t full_key) const;
  uint8_t resolve_slowly(uint32_t slot, uint64_t full_key) const;

  const Kernels* kernels_;
  std::vector<Set> sets_;
  size_t items_ = 0;
  // Keys of all sets, one after the other. The vectors only grow, and each query uses them up to the end of its last
  // set, so that memory is cleared once and not for every query.
  std::vector<uint32_t> keys_;
  std::vector<uint64_t> long_keys_;
  size_t keys_used_ = 0;
  size_t long_keys_used_ = 0;
  std::vector<uint32_t> collisions_;
  std::vector<Link> links_;
  uint32_t compared_bits_ = 0;  // Slot and content together.
  bool all_exact_ = false;      // All sets have this width.
};

}  // namespace bloomring::filter
