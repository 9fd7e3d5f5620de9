#include "serving/query/filter_cache.h"

#include <algorithm>

#include "base/hash.h"

namespace bloomring {

namespace {

// List and map nodes, shared state and allocator, roughly.
constexpr size_t kEntryOverheadBytes = 256;

size_t bytes_of(std::string_view user_key, const UserFilters& filters) {
  size_t bytes = kEntryOverheadBytes + user_key.size() + filters.periods.size() * sizeof(PeriodIndex);
  for (const UserFilter& filter : filters.filters) {
    bytes += sizeof filter + (filter.value.ok() ? filter.value.value()->bytes_held() : 0);
  }
  bytes += filters.forgotten.items().capacity() * sizeof(Forgotten::Item);
  return bytes;
}

}  // namespace

void FilterCache::erase(Stripe& stripe, Entries::iterator entry) {
  stripe.bytes -= entry->bytes;
  stripe.by_user.erase(entry->user());
  stripe.entries.erase(entry);
}

std::shared_ptr<const UserFilters> FilterCache::find(UserRef user, std::span<const PeriodIndex> periods,
                                                     Offset recent_from) {
  Stripe& stripe = stripe_of(user);
  std::lock_guard lock(stripe.mutex);
  const auto found = stripe.by_user.find(user);
  if (found == stripe.by_user.end()) {
    ++stripe.stats.misses;
    return nullptr;
  }
  const Entries::iterator entry = found->second;
  const bool exact = entry->filters->merged >= recent_from;
  const bool same_window = std::ranges::equal(entry->filters->periods, periods);
  if (!exact || !same_window) {
    ++(exact ? stripe.stats.misses : stripe.stats.stale);
    erase(stripe, entry);
    return nullptr;
  }
  ++stripe.stats.hits;
  stripe.entries.splice(stripe.entries.begin(), stripe.entries, entry);
  return entry->filters;
}

void FilterCache::put(UserRef user, std::shared_ptr<const UserFilters> filters) {
  const size_t bytes = bytes_of(user.key, *filters);
  if (bytes > stripe_bytes_max_) return;
  Stripe& stripe = stripe_of(user);
  std::lock_guard lock(stripe.mutex);
  if (const auto found = stripe.by_user.find(user); found != stripe.by_user.end()) {
    if (found->second->filters->merged > filters->merged) return;
    erase(stripe, found->second);
  }
  stripe.entries.push_front({std::string(user.key), user.hash, std::move(filters), bytes});
  stripe.by_user.emplace(stripe.entries.front().user(), stripe.entries.begin());
  stripe.bytes += bytes;
  while (stripe.bytes > stripe_bytes_max_) {
    erase(stripe, std::prev(stripe.entries.end()));
    ++stripe.stats.evictions;
  }
}

size_t FilterCache::longest_search() const {
  size_t longest = 0;
  for (const Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    longest = std::max(longest, longest_bucket(stripe.by_user));
  }
  return longest;
}

FilterCacheStats FilterCache::stats() const {
  FilterCacheStats total;
  for (const Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    total.hits += stripe.stats.hits;
    total.misses += stripe.stats.misses;
    total.stale += stripe.stats.stale;
    total.evictions += stripe.stats.evictions;
    total.entries += stripe.entries.size();
    total.bytes += stripe.bytes;
  }
  return total;
}

}  // namespace bloomring
