// What one user has forgotten, as the filter store keeps it: the times up to which plays do not count, of everything
// and of single items. Filters only unite, so what was merged stays in them; this says which of it counts.
//
//   a play of an item at time t counts   when  t > everything  and  t > the item's forgotten time
//   a filter of period p says an item is seen  when it holds it and p lies behind the item's forgotten time; in the
//                                              period of that time: when the item was played after it (`played_ms`)
//   filters up to the period of `everything`   are removed from the store when it is written (state/filter_store.h)
//
// It is kept as long as a filter of the period of its newest time is.
//
// Every change takes the later of two times, so it does not matter in which order and how often changes are made: a
// replay of batches ends in the same value. The merge stage notes a play of a forgotten item (`take_play`) from the
// moment on at which it knows of the forget; what it had merged before then is older than the forget
// (operators/merge.h).
//
// Bound: kItemsMax items; the ones forgotten first are let go, and are answered as their filters say. Their times
// become `floor_ms`, below which no forget of an item is taken any more: what was let go must not come back by a
// replay, without the plays that were merged meanwhile.
// Threading: a value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

class Forgotten {
 public:
  static constexpr size_t kItemsMax = 4'096;

  struct Item {
    ItemHash item;
    int64_t forgotten_ms = 0;  // Plays up to this time do not count.
    int64_t played_ms = 0;     // The latest play after that which was merged; 0: none.
    bool operator==(const Item&) const = default;
  };

  bool empty() const { return everything_ms_ == 0 && floor_ms_ == 0 && items_.empty(); }
  int64_t everything_ms() const { return everything_ms_; }
  int64_t floor_ms() const { return floor_ms_; }
  const std::vector<Item>& items() const { return items_; }  // By item, ascending.
  const Item* find(ItemHash item) const;
  // The latest time that anything was forgotten at.
  int64_t newest_ms() const;

  // Whether a play counts, by what is forgotten here.
  bool counts(ItemHash item, int64_t time_ms) const;

  // Forgets plays up to `time_ms`, a positive event time. True when that is news.
  bool forget_everything(int64_t time_ms);
  bool forget_item(ItemHash item, int64_t time_ms);
  // `counts`; a play of a forgotten item that counts is noted. True in `changed` when that is news.
  bool take_play(ItemHash item, int64_t time_ms, bool& changed);
  // Lets go what `expired` says of a forgotten time: every filter that it could matter to is gone.
  void expire(const std::function<bool(int64_t time_ms)>& expired);

  bool operator==(const Forgotten&) const = default;

 private:
  friend Result<Forgotten> decode_forgotten(std::string_view bytes, std::string_view store_key);
  std::vector<Item>::iterator place_of(ItemHash item);
  void bound();

  int64_t everything_ms_ = 0;
  int64_t floor_ms_ = 0;
  std::vector<Item> items_;
};

// Bytes under forgotten_key (schemas/store_key.h), in the pieces of schemas/bytes.h:
//   version:u8=1 everything:varint floor:varint items:varint { item:u64 forgotten:varint played:varint } sum:u64
// Times are Unix milliseconds, 0 where there is none; `played` is 0 or how much later than `forgotten`. `sum` is XXH3
// of everything before it, seeded with the hash of the key. Decoding is strict: kCorrupt with the reason.
std::string encode_forgotten(const Forgotten& forgotten, std::string_view store_key);
Result<Forgotten> decode_forgotten(std::string_view bytes, std::string_view store_key);

}  // namespace bloomring
