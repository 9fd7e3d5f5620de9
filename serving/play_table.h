// A flat hash map from a user's hash to the items that the user played, in an arena that is freed as a whole: one
// stripe of one generation of recent plays (serving/recent_plays.h).
//
// A user's items lie in chunks of 4, 8, 16, 32 or 64 words (one word of header, the rest items), the newest chunk
// first; a chunk holds items of one period. So a user with k plays costs about 8 bytes a play and at most one chunk
// more, and reading them touches log2(k) places.
// Threading: none; the owner locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"

namespace bloomring {

struct RecentPlay {
  ItemHash item;
  PeriodIndex period;
};

class PlayTable {
 public:
  // `period` in [0, 65536): days reach into the year 2149.
  void insert(uint64_t user_hash, ItemHash item, PeriodIndex period);
  // Appends the user's plays of periods from `oldest` on.
  void collect(uint64_t user_hash, PeriodIndex oldest, std::vector<RecentPlay>& out) const;
  // Asks the processor to load what `insert` or `collect` of this user will read first.
  void prefetch(uint64_t user_hash) const {
    if (!entries_.empty()) __builtin_prefetch(&entries_[home(user_hash)]);
  }
  // Allocated, in bytes.
  size_t bytes() const { return entries_.size() * sizeof(Entry) + pages_.size() * kPageWords * sizeof(uint64_t); }

 private:
  static constexpr size_t kPageWords = 1024;
  static constexpr uint32_t kChunkWordsMax = 64;
  static constexpr size_t kEntriesMin = 16;
  static constexpr unsigned kSkippedBits = 8;  // The highest bits choose the stripe and say nothing here.

  struct Entry {
    uint64_t user_hash = 0;
    uint32_t head = 0;  // Word index of the newest chunk; 0 is a free entry (word 0 is never handed out).
  };
  // The first word of a chunk.
  struct Header {
    uint32_t next;
    uint16_t period;
    uint8_t words;  // Of the chunk, this one included.
    uint8_t items;
  };
  static_assert(sizeof(Header) == sizeof(uint64_t));

  size_t home(uint64_t user_hash) const { return (user_hash << kSkippedBits) >> shift_; }
  uint64_t& word(uint32_t index) { return pages_[index / kPageWords][index % kPageWords]; }
  const uint64_t& word(uint32_t index) const { return pages_[index / kPageWords][index % kPageWords]; }
  Entry& find_or_add(uint64_t user_hash);
  uint32_t allocate(uint32_t words);
  void grow();

  std::vector<Entry> entries_;
  unsigned shift_ = 64;
  size_t users_ = 0;
  std::vector<std::unique_ptr<uint64_t[]>> pages_;
  uint32_t next_word_ = 1;
};

}  // namespace bloomring
