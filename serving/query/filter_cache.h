// A cache of users' filters that were read lately. It stays exact without invalidation messages.
//
// The rule: filters that were read under a merged watermark W hold everything of their user below W. Memory holds
// everything from an offset H on. So as long as H <= W, cached filters and recent plays together miss nothing, however
// old the cached filters are. `find` returns only such filters. H only rises, so a stale entry never becomes exact
// again.
//
// Bounded in bytes; the least recently used entry goes first. A user without filters is an entry too.
// Threading: thread safe; 16 stripes with a mutex each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "base/scatter.h"
#include "base/user_ref.h"
#include "serving/query/user_filters.h"

namespace bloomring {

struct FilterCacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;     // No entry, or one for another window.
  uint64_t stale = 0;      // An entry that is no longer exact.
  uint64_t evictions = 0;  // To stay within the bound.
  size_t entries = 0;
  size_t bytes = 0;
};

class FilterCache {
 public:
  // 0 bytes: caches nothing.
  explicit FilterCache(size_t bytes_max) : stripe_bytes_max_(bytes_max / kStripes) {}

  // The user's filters of exactly these periods, when they hold everything below `recent_from`; else null.
  // RecentPlays::lookup returned `recent_from` for this request, before this call. Shared with running requests.
  std::shared_ptr<const UserFilters> find(UserRef user, std::span<const PeriodIndex> periods,
                                          Offset recent_from);
  // Keeps the filters unless the present entry is newer.
  void put(UserRef user, std::shared_ptr<const UserFilters> filters);
  FilterCacheStats stats() const;
  // The most users that the search for one compares with; takes a walk over all of them.
  size_t longest_search() const;

 private:
  static constexpr size_t kStripes = 16;

  struct Entry {
    std::string user_key;
    uint64_t user_hash = 0;
    std::shared_ptr<const UserFilters> filters;
    size_t bytes = 0;

    UserRef user() const BLOOMRING_LIFETIMEBOUND { return {user_key, user_hash}; }
  };
  using Entries = std::list<Entry>;  // Most recently used first.
  struct PlaceOfUser {
    size_t operator()(const UserRef& user) const { return scatter(user.hash); }
  };
  struct SameUser {
    bool operator()(const UserRef& a, const UserRef& b) const { return a.hash == b.hash && a.key == b.key; }
  };
  struct Stripe {
    mutable std::mutex mutex;
    Entries entries;
    std::unordered_map<UserRef, Entries::iterator, PlaceOfUser, SameUser> by_user;  // Views into the entries.
    size_t bytes = 0;
    FilterCacheStats stats;
  };

  Stripe& stripe_of(UserRef user) { return stripes_[user.hash >> 60]; }
  static void erase(Stripe& stripe, Entries::iterator entry);

  const size_t stripe_bytes_max_;
  std::array<Stripe, kStripes> stripes_;
};

}  // namespace bloomring
