#include "serving/query/served_items.h"

#include <algorithm>

namespace bloomring {

namespace {
// A map node with its vector's header, and the bucket that points to it, roughly.
constexpr size_t kUserBytes = 80;
}  // namespace

void ServedItems::add(uint64_t user_hash, ItemHash item, int64_t time_ms) {
  Stripe& stripe = stripes_[stripe_of(user_hash)];
  std::lock_guard lock(stripe.mutex);
  User& user = stripe.users[user_hash];
  stripe.items -= user.size();
  const auto known = std::ranges::find(user, item, &ServedItem::item);
  if (known == user.end() || known->time_ms < time_ms) {
    if (known != user.end()) user.erase(known);
    const auto place = std::ranges::find_if(user, [&](const ServedItem& served) { return served.time_ms <= time_ms; });
    user.insert(place, {item, time_ms});
    if (user.size() > config_.per_user_max) user.pop_back();
  }
  stripe.items += user.size();
}

void ServedItems::lookup(uint64_t user_hash, int64_t now_ms, std::vector<ServedItem>& out) const {
  const Stripe& stripe = stripes_[stripe_of(user_hash)];
  std::lock_guard lock(stripe.mutex);
  const auto user = stripe.users.find(user_hash);
  if (user == stripe.users.end()) return;
  for (const ServedItem& served : user->second) {
    if (served.time_ms < now_ms - config_.age_max_ms) break;
    out.push_back(served);
  }
}

size_t ServedItems::bytes_of(const Stripe& stripe) {
  return stripe.users.size() * kUserBytes + stripe.items * sizeof(ServedItem);
}

void ServedItems::sweep(Stripe& stripe, int64_t oldest_ms) {
  for (auto user = stripe.users.begin(); user != stripe.users.end();) {
    User& items = user->second;
    stripe.items -= items.size();
    while (!items.empty() && items.back().time_ms < oldest_ms) items.pop_back();
    stripe.items += items.size();
    user = items.empty() ? stripe.users.erase(user) : std::next(user);
  }
}

void ServedItems::expire(int64_t now_ms) {
  Stripe& stripe = stripes_[next_sweep_++ % kStripes];
  std::lock_guard lock(stripe.mutex);
  int64_t age_ms = config_.age_max_ms;
  sweep(stripe, now_ms - age_ms);
  if (bytes_of(stripe) <= config_.bytes_max / kStripes) return;
  while (bytes_of(stripe) > config_.bytes_max / kStripes && age_ms > 0) {
    age_ms /= 2;
    sweep(stripe, now_ms - age_ms);
  }
  std::lock_guard shortened_lock(shortened_mutex_);
  ++shortened_;
}

size_t ServedItems::longest_search() const {
  size_t longest = 0;
  for (const Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    longest = std::max(longest, longest_bucket(stripe.users));
  }
  return longest;
}

ServedItemsStats ServedItems::stats() const {
  ServedItemsStats stats;
  for (const Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    stats.users += stripe.users.size();
    stats.items += stripe.items;
    stats.bytes += bytes_of(stripe);
  }
  std::lock_guard lock(shortened_mutex_);
  stats.shortened = shortened_;
  return stats;
}

}  // namespace bloomring
