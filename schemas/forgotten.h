// What one user has forgotten, as the filter store keeps it: the times up to which plays do not count, of everything
// and of single items. Filters only unite, so what was merged stays in them; this says which of it counts.
//
//   a play of an item at time t counts   when  t > everything  and  t > the item's forgotten time
//   a filter of period p says an item is seen  when it holds it and p lies behind the item's forgotten time; in the
//                                              period of that time: when the item was played after it (`played_ms`)
//   filters up to the period of `everything`   are removed from the store when it is written (filter_store.h)
//
// It is kept as long as a filter of the period of its newest time is.
//
// Every change takes the later of two times, so it does not matter in which order and how often changes are made: a
// replay of batches ends in the same value. The merge stage notes a play of a forgotten item (`take_play`) from the
// moment on at which it knows of the forget; what it had merged before then is older than the forget
// (operators/merge.h).
//
// Bound: the kItemsMax items that were forgotten last (of the same time: those of the largest hash) are kept; the
// others are let go, and are answered as their filters say. `floor_ms` is the time before that of the first of those
// that are kept; no forget up to it is taken any more: what was let go must not come back by a replay, without the
// plays that were merged meanwhile.
//
// Damage: a value that cannot be read must stop neither the other users of a record nor the partition.
// `salvage_forgotten` gives what is good of it together with its `damage`; new forgets go into the good part, and it is
// stored as a damaged value (schemas/damaged_value.h). To `decode_forgotten`, and so to every question, it is corrupt.
// Threading: a value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/damaged_value.h"

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

  bool empty() const { return everything_ms_ == 0 && floor_ms_ == 0 && items_.empty() && !damaged(); }
  int64_t everything_ms() const { return everything_ms_; }
  int64_t floor_ms() const { return floor_ms_; }
  const std::vector<Item>& items() const { return items_; }  // By item, ascending.
  const Item* find(ItemHash item) const;
  // Whether some of what was stored could not be read.
  bool damaged() const { return damage_.refused > 0; }
  const Damage& damage() const { return damage_; }
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
  friend class ForgottenDecoder;
  std::vector<Item>::iterator place_of(ItemHash item);
  std::vector<Item>::iterator least_item();
  bool raise_floor();

  int64_t everything_ms_ = 0;
  int64_t floor_ms_ = 0;
  std::vector<Item> items_;
  Damage damage_;
};

// Bytes under forgotten_key (schemas/store_key.h), in the pieces of schemas/bytes.h:
//   version:u8=1 everything:varint floor:varint items:varint { item:u64 forgotten:varint played:varint } sum:u64
// Times are Unix milliseconds, 0 where there is none; `played` is 0 or how much later than `forgotten`. `sum` is XXH3
// of everything before it, seeded with the hash of the key; or, where there is damage, a damaged value with these
// bytes as its good part. Decoding is strict: kCorrupt with the reason, and for every damaged value.
std::string encode_forgotten(const Forgotten& forgotten, std::string_view store_key);
Result<Forgotten> decode_forgotten(std::string_view bytes, std::string_view store_key);
// For those who write it again: kCorrupt only for a sound value of another version, which this program must not
// replace.
Result<Forgotten> salvage_forgotten(std::string_view bytes, std::string_view store_key);

}  // namespace bloomring
