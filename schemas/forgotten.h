// The forgets of one user, as the filter store keeps them: the times up to which plays do not count, for everything and
// for single items. Filters only unite, so merged plays stay in them; this value says which of them count.
//
//   a play of an item at time t counts   when  t > everything  and  t > the item's forgotten time
//   a filter of period p says an item is seen  when it holds it and p is after the period of the item's forgotten
//                                              time; in that period itself: when the item was played after the
//                                              forgotten time (`played_ms`)
//   filters up to the period of `everything`   are removed from the store when it is written (filter_store.h)
//
// The store keeps the value as long as it keeps filters of the period of the newest time in it.
//
// Every change takes the later of two times, so the order and the number of changes do not matter: a replay of batches
// ends in the same value. Once the merge stage knows of the forget of an item, it notes later plays of the item
// (`take_play`); the plays that it merged before are older than the forget (operators/filters/merge.h).
//
// Bound: the value keeps the kItemsMax items that were forgotten last (of the same time: those with the largest hash).
// It drops the others, and their filters alone answer for them. Since the first drop `floor_ms` is 1 ms before the
// earliest kept forgotten time. Forgets up to it are refused: a replay must not bring back a dropped item without the
// plays that were merged meanwhile.
//
// Errors: a value that cannot be read must stop neither the other users of a record nor the partition.
// `salvage_forgotten` gives its good part with its `damage`; new forgets go into the good part, which is stored as a
// damaged value (schemas/damaged_value.h). `decode_forgotten`, and so every query, gives kCorrupt for it.
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
#include "schemas/forget.h"

namespace bloomring {

class Forgotten {
 public:
  static constexpr size_t kItemsMax = 4'096;

  struct Item {
    ItemHash item;
    int64_t forgotten_ms = 0;  // Plays up to this time do not count.
    int64_t played_ms = 0;     // The latest merged play after that time; 0: none.
    bool operator==(const Item&) const = default;
  };

  bool empty() const { return everything_ms_ == 0 && floor_ms_ == 0 && items_.empty() && !damaged(); }
  int64_t everything_ms() const { return everything_ms_; }
  int64_t floor_ms() const { return floor_ms_; }
  const std::vector<Item>& items() const { return items_; }  // By item, ascending.
  const Item* find(ItemHash item) const;
  // True when a part of the stored value could not be read.
  bool damaged() const { return damage_.refused > 0; }
  const Damage& damage() const { return damage_; }
  // The latest forgotten time; 0 without any.
  int64_t newest_ms() const;

  // True when a play counts, by these forgets.
  bool counts(ItemHash item, int64_t time_ms) const;

  // Forgets plays up to `time_ms`, a positive event time. True when the value changed.
  bool forget_everything(int64_t time_ms);
  bool forget_item(ItemHash item, int64_t time_ms);
  // As `counts`; also notes a play that counts of a forgotten item, and sets `changed` when the value changed.
  bool take_play(ItemHash item, int64_t time_ms, bool& changed);
  // Drops the forgotten times that are `expired`: every filter to which they could matter is gone.
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

// Bytes under forgotten_key (schemas/store_key.h), in the pieces of schemas/pieces/bytes.h:
//   version:u8=1 everything:varint floor:varint items:varint { item:u64 forgotten:varint played:varint } sum:u64
// Times are Unix milliseconds, 0 where there is none; `played` is 0, or the milliseconds from `forgotten` to the play.
// `sum` is XXH3 of everything before it, seeded with the hash of the key. With damage, these bytes are the good part of
// a damaged value. Decoding is strict: kCorrupt with the reason, and for every damaged value.
std::string encode_forgotten(const Forgotten& forgotten, std::string_view store_key);
Result<Forgotten> decode_forgotten(std::string_view bytes, std::string_view store_key);
// For callers that write the value back: kCorrupt only for a sound value of another version, which this program must
// not replace.
Result<Forgotten> salvage_forgotten(std::string_view bytes, std::string_view store_key);

}  // namespace bloomring
