// The items that one user has played, with the time of the latest play of each. A PlayTable holds a user with very
// many plays in this form, so that a question looks up its candidates instead of copying all plays.
//
// 64 open-addressing tables, which grow independently: with two million items the longest pause of an insert is the
// rehash of about 30,000. Table and slot of an item are random in each process (base/scatter.h), and so is the order of
// `each`. A slot has 16 bytes; at most three quarters of the slots are in use. The latest play of an item is
// enough: forgets and periods that an earlier play passes, a later one passes as well.
// Threading: none; the owner locks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"

namespace bloomring {

class ItemTimes {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  // `time_ms` may be any time but kNever.
  void insert(ItemHash item, int64_t time_ms);
  // The time of the item's latest play, or kNever.
  int64_t find(ItemHash item) const;
  // Raises times_ms[i] to the latest play of items[i], if that is later.
  void find_all(std::span<const ItemHash> items, std::span<int64_t> times_ms) const;
  // Calls `take(item, time_ms)` with each item, in any order, until it returns false.
  template <typename Take>
  void each(const Take& take) const;

  size_t items() const { return items_; }
  // The latest play of all.
  ItemHash newest_item() const { return newest_item_; }
  int64_t newest_ms() const { return newest_ms_; }
  size_t bytes() const { return sizeof *this + slots_ * sizeof(Slot); }
  // The most slots that the search for an item reads; takes a walk over the tables.
  size_t longest_search() const;

 private:
  static constexpr unsigned kPartBits = 6;
  static constexpr size_t kSlotsMin = 16;  // Of a part that is not empty.
  static constexpr size_t kPrefetchAhead = 16;

  struct Slot {
    uint64_t item = 0;
    int64_t time_ms = kNever;  // A free slot.
  };
  struct Part {
    std::vector<Slot> slots;
    size_t items = 0;
  };

  // Where an item is: its part by the highest bits of `scattered`, and the first of its slots by the lowest.
  static size_t part_of(uint64_t scattered) { return scattered >> (64 - kPartBits); }
  static size_t home(const Part& part, uint64_t scattered) { return scattered & (part.slots.size() - 1); }
  static size_t place(const Part& part, ItemHash item, uint64_t scattered);
  int64_t find(ItemHash item, uint64_t scattered) const;
  void grow(Part& part);

  std::array<Part, size_t{1} << kPartBits> parts_;
  size_t items_ = 0;
  size_t slots_ = 0;
  ItemHash newest_item_;
  int64_t newest_ms_ = kNever;
};

template <typename Take>
void ItemTimes::each(const Take& take) const {
  for (const Part& part : parts_) {
    for (const Slot& slot : part.slots) {
      if (slot.time_ms != kNever && !take(ItemHash(slot.item), slot.time_ms)) return;
    }
  }
}

}  // namespace bloomring
