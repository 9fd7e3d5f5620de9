// The items served to the users of one partition lately: of each user the newest `per_user_max`, none older than
// `age_max_ms`. They count as seen at once, because reports of plays come late. An item that was served and never
// played becomes unseen again when `per_user_max` newer ones were served, or when it is too old.
//
// The input is the serve events of user-events, and before that the call that records them on this replica. So an
// event may be applied several times and slightly out of order. The newest items by event time are kept, each once, at
// its newest time. Applying an event again changes nothing.
//
// Memory: 16 bytes an item and about 80 a user. Above `bytes_max` the age limit is halved until the items fit; a
// counter reports it.
// Threading: thread safe; 32 stripes by user hash with a mutex each. One thread at a time calls `expire`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/scatter.h"

namespace bloomring {

struct ServedItemsConfig {
  size_t per_user_max = 100;
  int64_t age_max_ms = 6 * 3'600'000;
  size_t bytes_max = 256'000'000;  // Of this partition.
};

struct ServedItem {
  ItemHash item;
  int64_t time_ms = 0;
};

struct ServedItemsStats {
  size_t users = 0;
  size_t items = 0;
  size_t bytes = 0;
  uint64_t shortened = 0;  // Sweeps that had to go below age_max_ms to stay within bytes_max.
};

class ServedItems {
 public:
  explicit ServedItems(const ServedItemsConfig& config) : config_(config) {}

  void add(uint64_t user_hash, ItemHash item, int64_t time_ms);
  // Appends the user's served items that are young enough, newest first.
  void lookup(uint64_t user_hash, int64_t now_ms, std::vector<ServedItem>& out) const;
  // Frees items that are too old. To be called every few seconds: each call sweeps one stripe.
  void expire(int64_t now_ms);
  ServedItemsStats stats() const;
  // The most users that the search for one compares with; takes a walk over all of them.
  size_t longest_search() const;

 private:
  static constexpr size_t kStripeBits = 5;
  static constexpr size_t kStripes = size_t{1} << kStripeBits;

  using User = std::vector<ServedItem>;  // Newest first.
  struct Stripe {
    mutable std::mutex mutex;
    std::unordered_map<uint64_t, User, Scattered> users;  // By user hash.
    size_t items = 0;
  };

  static size_t stripe_of(uint64_t user_hash) { return user_hash >> (64 - kStripeBits); }
  static size_t bytes_of(const Stripe& stripe);
  static void sweep(Stripe& stripe, int64_t oldest_ms);

  const ServedItemsConfig config_;
  std::array<Stripe, kStripes> stripes_;
  size_t next_sweep_ = 0;
  mutable std::mutex shortened_mutex_;
  uint64_t shortened_ = 0;
};

}  // namespace bloomring
