// A flat hash map from a user's hash to the plays of the user, each an item and its event time, in an arena that is
// freed as a whole: one stripe of one generation of recent plays (serving/query/recent_plays.h).
//
// A user's plays lie in chunks for 2, 4, 8, 16 or 32 of them (one word of header, then the items, then the times, half
// a word each), the newest chunk first. A chunk holds plays of one era of 2^32 ms (49.7 days), so half a word is
// enough for the millisecond. A user with k plays costs 12 bytes a play and at most one chunk more, and reading them
// touches log2(k) places. A user with more than kChunkedPlaysMax plays here has them as ItemTimes instead: the latest
// play of each item, to look up instead of to copy. A user's place in the map is random in each process
// (base/scatter.h).
// Threading: none; the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/borrow.h"
#include "base/ids.h"
#include "base/scatter.h"
#include "serving/query/item_times.h"

namespace bloomring {

struct RecentPlay {
  ItemHash item;
  int64_t time_ms = 0;
  PeriodIndex period = {};  // Of `time_ms`; RecentPlays fills it in.
};

// The hash of a user with its place, made once for a lookup or for a user's plays of a record. Converts from the hash.
struct PlacedUser {
  PlacedUser(uint64_t user_hash) : hash(user_hash), place(scatter(user_hash)) {}  // NOLINT: converts.
  uint64_t hash;
  uint64_t place;
};

class PlayTable {
 public:
  // `time_ms` must be before the year 10889: 2^16 eras.
  void insert(PlacedUser user, ItemHash item, int64_t time_ms);
  static constexpr uint32_t kChunkedPlaysMax = 2'048;

  // Appends the user's plays, newest chunk first. For a user with ItemTimes it appends none and returns those, else
  // null.
  const ItemTimes* collect(PlacedUser user, std::vector<RecentPlay>& out) const BLOOMRING_LIFETIMEBOUND;
  // The user's ItemTimes, valid until the next insert; null for a user without.
  const ItemTimes* indexed(PlacedUser user) const BLOOMRING_LIFETIMEBOUND;
  // Prefetches the entry that `insert` or `collect` of this user reads first.
  void prefetch(PlacedUser user) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[home(user)]);
  }
  // The most places that the search for a user reads; takes a walk over the map.
  size_t longest_search() const;
  // Allocated, in bytes.
  size_t bytes() const {
    return entries_.size() * sizeof(Entry) + pages_.size() * kPageWords * sizeof(uint64_t) + indexed_bytes_;
  }

 private:
  static constexpr size_t kPageWords = 1024;
  static constexpr uint32_t kChunkPlaysMin = 2;
  static constexpr uint32_t kChunkPlaysMax = 32;
  static constexpr size_t kEntriesMin = 16;

  struct Entry {
    uint64_t user_hash = 0;
    uint32_t head = 0;   // Word index of the newest chunk; 0 is a free entry (word 0 is never handed out).
    uint32_t plays = 0;  // In chunks. kIndexed: `head` is 1 + the index in `indexed_`.
  };
  static constexpr uint32_t kIndexed = 0xffffffff;
  // The first word of a chunk.
  struct Header {
    uint32_t next;
    uint16_t era;  // Event time divided by 2^32 ms.
    uint8_t room;  // Capacity in plays.
    uint8_t plays;
  };
  static uint32_t words_of(uint32_t room) { return 1 + room + room / 2; }
  static_assert(sizeof(Header) == sizeof(uint64_t));

  size_t home(PlacedUser user) const { return user.place >> shift_; }
  uint64_t& word(uint32_t index) { return pages_[index / kPageWords][index % kPageWords]; }
  const uint64_t& word(uint32_t index) const { return pages_[index / kPageWords][index % kPageWords]; }
  Entry& find_or_add(PlacedUser user);
  const Entry* find(PlacedUser user) const;
  void collect_chunks(uint32_t chunk, std::vector<RecentPlay>& out) const;
  void index(Entry& entry);
  void insert_indexed(const Entry& entry, ItemHash item, int64_t time_ms);
  void put(uint32_t chunk, const Header& header, ItemHash item, int64_t time_ms);
  uint32_t allocate(uint32_t words);
  void grow();

  std::vector<Entry> entries_;
  unsigned shift_ = 64;
  size_t users_ = 0;
  std::vector<std::unique_ptr<uint64_t[]>> pages_;
  uint32_t next_word_ = 1;
  std::vector<std::unique_ptr<ItemTimes>> indexed_;
  size_t indexed_bytes_ = 0;
};

}  // namespace bloomring
