#include "serving/query/recent_plays.h"

#include <algorithm>

#include "base/hash.h"
#include "schemas/forgotten.h"
#include "state/forget_rule.h"

namespace bloomring {

namespace {
// How many plays ahead `insert_pending` prefetches table entries.
constexpr size_t kPrefetchAhead = 8;
// A map node with its vector's header, its allocation, and the bucket that points to it, roughly.
constexpr size_t kForgetUserBytes = 80;
// Room that is kept from one record to the next, of each stripe and of forgets. A record may have hundreds of thousands
// of events.
constexpr size_t kPendingKept = 4'096;

template <typename Pending>
void clear_to_reuse(std::vector<Pending>& pending) {
  pending.clear();
  if (pending.capacity() > kPendingKept) pending.shrink_to_fit();
}
}  // namespace

RecentPlays::RecentPlays(const RecentPlaysConfig& config, Calendar calendar, Offset start, int64_t log_floor_ms)
    : config_(config),
      calendar_(std::move(calendar)),
      start_(start),
      recent_from_(start.value),
      applied_(start.value),
      newest_log_time_ms_(log_floor_ms),
      any_below_(start.value > 0 || log_floor_ms > 0),
      hours_below_known_(start.value > 0 && log_floor_ms > 0) {
  BLOOMRING_CHECK(config.slot_ms > 0, "a slot has a length");
}

void RecentPlays::set_base_log_time(int64_t log_time_ms, int64_t newest_play_ms) {
  below_logged_ms_ = std::max(log_time_ms, below_logged_ms_.value_or(log_time_ms));
  newest_play_ms_ = std::max(newest_play_ms_, newest_play_ms);
}

// The latest possible time of a play below `start`. The first record at or above `start` was logged at `log_time_ms`.
int64_t RecentPlays::newest_below_ms(int64_t log_time_ms) const {
  if (!any_below_) return 0;
  int64_t newest_ms = std::min(log_time_ms, below_logged_ms_.value_or(log_time_ms));
  if (hours_below_known_) newest_ms = std::min(newest_ms, newest_log_time_ms_);
  return newest_ms;
}

void RecentPlays::begin_generation_if_due(Offset offset, int64_t log_time_ms) {
  newest_log_time_ms_ = std::max(newest_log_time_ms_, log_time_ms);
  const int64_t slot = newest_log_time_ms_ / config_.slot_ms;
  if (!generations_.empty() && generations_.back().slot == slot &&
      log_time_ms < generations_.back().least_log_time_ms + config_.slot_ms) {
    return;
  }
  for (Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    stripe.tables.push_back(std::make_unique<PlayTable>());
  }
  std::lock_guard lock(generations_mutex_);
  generations_.push_back({.slot = slot, .offsets = {offset, offset}, .least_log_time_ms = log_time_ms});
  late_before_ms_ = newest_play_ms_;
}

size_t RecentPlays::collect(Offset offset, EventBlockReader& block) {
  size_t others = 0;
  while (block.next_user()) {
    const PlacedUser user = block.user().hash;
    std::vector<PendingPlay>& pending = pending_[stripe_of(user.hash)];
    while (block.next_event()) {
      const Event& event = block.event();
      if (event.kind == EventKind::kPlay) {
        pending.push_back({user, event.item, event.time_ms});
        newest_play_ms_ = std::max(newest_play_ms_, event.time_ms);
      } else if (is_forget(event.kind)) {
        const bool late = forget_rule::is_late(event.time_ms, late_before_ms_);
        pending_forgets_.push_back(
            {user.hash, {{event.kind == EventKind::kForgetAll, late, event.item, event.time_ms, offset}}});
      } else {
        ++others;
      }
    }
  }
  return others;
}

void RecentPlays::insert_pending() {
  uint64_t plays = 0;
  size_t bytes_added = 0;
  for (size_t s = 0; s < kStripes; ++s) {
    std::vector<PendingPlay>& pending = pending_[s];
    if (pending.empty()) continue;
    std::lock_guard lock(stripes_[s].mutex);
    PlayTable& table = *stripes_[s].tables.back();
    const size_t bytes_before = table.bytes();
    for (size_t i = 0; i < pending.size(); ++i) {
      if (i + kPrefetchAhead < pending.size()) table.prefetch(pending[i + kPrefetchAhead].user);
      table.insert(pending[i].user, pending[i].item, pending[i].time_ms);
    }
    bytes_added += table.bytes() - bytes_before;
    plays += pending.size();
    clear_to_reuse(pending);
  }
  for (const PendingForget& pending : pending_forgets_) {
    Stripe& stripe = stripes_[stripe_of(pending.user_hash)];
    std::lock_guard lock(stripe.mutex);
    add(stripe, pending.user_hash, pending.added);
    stripe.forgets_applied = Offset(pending.added.forget.offset.value + 1);
  }
  clear_to_reuse(pending_forgets_);
  std::lock_guard lock(generations_mutex_);
  generations_.back().plays += plays;
  generations_.back().bytes += bytes_added;
  bytes_ += bytes_added;
}

size_t RecentPlays::bytes_of(const std::vector<UnmergedForget>& forgets) {
  return forgets.empty() ? 0 : kForgetUserBytes + forgets.capacity() * sizeof(UnmergedForget);
}

void RecentPlays::add(Stripe& stripe, uint64_t user_hash, const UnmergedForget& added) {
  std::vector<UnmergedForget>& forgets = stripe.forgets[user_hash];
  const size_t before = bytes_of(forgets);
  insert(forgets, added);
  forget_bytes_ += bytes_of(forgets) - before;
}

void RecentPlays::insert(std::vector<UnmergedForget>& forgets, const UnmergedForget& added) {
  if (!added.noted) {  // Its record replaces the noted forget, and may be late.
    std::erase_if(forgets, [&](const UnmergedForget& other) {
      return other.noted && other.forget.offset <= added.forget.offset && other.forget.same_target(added.forget);
    });
  }
  const auto same = std::ranges::find_if(forgets, [&](const UnmergedForget& other) {
    return other.forget.same_target(added.forget) && other.forget.late == added.forget.late &&
           other.noted == added.noted;
  });
  if (same != forgets.end()) {
    same->forget.time_ms = std::max(same->forget.time_ms, added.forget.time_ms);
    same->forget.offset = std::max(same->forget.offset, added.forget.offset);
    return;
  }
  forgets.push_back(added);
  if (forgets.size() <= Forgotten::kItemsMax) return;
  forgets.erase(std::ranges::min_element(forgets, {}, [](const UnmergedForget& other) {
    return std::pair(other.forget.everything, other.forget.time_ms);
  }));
}

void RecentPlays::note_forget(uint64_t user_hash, bool everything, ItemHash item, int64_t time_ms, Offset offset) {
  Stripe& stripe = stripes_[stripe_of(user_hash)];
  std::lock_guard lock(stripe.mutex);
  if (offset < stripe.forgets_applied) return;
  add(stripe, user_hash, {{everything, false, item, time_ms, offset}, true});
}

size_t RecentPlays::apply(Offset offset, int64_t log_time_ms, EventBlockReader& block) {
  if (offset < applied()) return 0;
  if (applied() == start_) newest_play_ms_ = std::max(newest_play_ms_, newest_below_ms(log_time_ms));
  begin_generation_if_due(offset, log_time_ms);
  const size_t others = collect(offset, block);
  insert_pending();
  {
    std::lock_guard lock(generations_mutex_);
    Generation& newest = generations_.back();
    newest.offsets.to = Offset(offset.value + 1);
    newest.least_log_time_ms = std::min(newest.least_log_time_ms, log_time_ms);
    newest.last_log_time_ms = log_time_ms;
  }
  applied_.store(offset.value + 1, std::memory_order_release);
  return others;
}

bool RecentPlays::may_drop(const Generation& oldest, const MergedWatermark& watermark, int64_t lap_floor_log_time_ms,
                           bool* early) const {
  if (!watermark.covers(oldest.offsets)) return false;
  *early = oldest.last_log_time_ms >= lap_floor_log_time_ms;
  return !*early || bytes() > config_.bytes_max;
}

void RecentPlays::drop_oldest() {
  // Raised before the drop: a lookup that misses the dropped plays reads this value or a later one (see the header).
  recent_from_.store(generations_.front().offsets.to.value, std::memory_order_seq_cst);
  for (Stripe& stripe : stripes_) {
    std::unique_ptr<PlayTable> dropped;  // Freed outside the lock.
    std::lock_guard lock(stripe.mutex);
    dropped.swap(stripe.tables.front());
    stripe.tables.pop_front();
    drop_forgets(stripe);
  }
  std::lock_guard lock(generations_mutex_);
  bytes_ -= generations_.front().bytes;
  generations_.pop_front();
}

void RecentPlays::drop_forgets(Stripe& stripe) {
  const Offset recent_from(recent_from_.load());
  for (auto user = stripe.forgets.begin(); user != stripe.forgets.end();) {
    const size_t before = bytes_of(user->second);
    if (std::erase_if(user->second, [&](const UnmergedForget& one) { return one.forget.offset < recent_from; }) > 0)
      user->second.shrink_to_fit();
    forget_bytes_ += bytes_of(user->second) - before;
    user = user->second.empty() ? stripe.forgets.erase(user) : std::next(user);
  }
  // The map keeps the buckets of its greatest number of users, which count no longer.
  if (stripe.forgets.size() < stripe.forgets.bucket_count() / 4) stripe.forgets.rehash(0);
}

size_t RecentPlays::release(const MergedWatermark& watermark, int64_t lap_floor_log_time_ms) {
  size_t dropped = 0;
  bool early = false;
  while (!generations_.empty() && may_drop(generations_.front(), watermark, lap_floor_log_time_ms, &early)) {
    drop_oldest();
    ++dropped;
    std::lock_guard lock(generations_mutex_);
    early_releases_ += early ? 1 : 0;
  }
  std::lock_guard lock(generations_mutex_);
  over_bound_ = bytes() > config_.bytes_max;
  return dropped;
}

// Generations dropped or records applied between two parts do no harm: the answer about each item is as of the look at
// its part, and `recent_from` is read after all of them. Forgets were copied before. A forget applied since came during
// the question; a forget dropped since is in the filters, which are read after `recent_from`.
void RecentPlays::look_for(const Stripe& stripe, PlacedUser user, std::span<const ItemHash> items,
                           std::vector<RecentPlay>& plays) const {
  std::array<int64_t, kItemsAtOnce> times_ms;
  for (size_t begin = 0; begin < items.size(); begin += kItemsAtOnce) {
    const auto part = items.subspan(begin, std::min(kItemsAtOnce, items.size() - begin));
    times_ms.fill(ItemTimes::kNever);
    {
      std::lock_guard lock(stripe.mutex);
      for (const auto& table : stripe.tables) {
        if (const ItemTimes* const indexed = table->indexed(user)) indexed->find_all(part, times_ms);
      }
    }
    for (size_t i = 0; i < part.size(); ++i) {
      if (times_ms[i] != ItemTimes::kNever) plays.push_back({part[i], times_ms[i], {}});
    }
  }
}

RecentPlays::Found RecentPlays::lookup(uint64_t user_hash, PeriodIndex oldest, const WantedPlays& wanted,
                                       std::vector<RecentPlay>& plays, std::vector<Forget>& forgets) const {
  const Stripe& stripe = stripes_[stripe_of(user_hash)];
  const PlacedUser placed = user_hash;
  const auto first = static_cast<ptrdiff_t>(plays.size());
  size_t left = wanted.plays_max;
  bool is_indexed = false;
  Found found;
  {
    std::lock_guard lock(stripe.mutex);
    for (const auto& table : stripe.tables) table->prefetch(placed);
    for (auto table = stripe.tables.rbegin(); table != stripe.tables.rend(); ++table) {
      const ItemTimes* const indexed = (*table)->collect(placed, plays);
      if (indexed == nullptr) continue;
      is_indexed = true;
      found.left_out |= indexed->items() > left;
      if (left == 0) plays.push_back({indexed->newest_item(), indexed->newest_ms(), {}});  // Says that there is one.
      indexed->each([&](ItemHash item, int64_t time_ms) {
        if (left == 0) return false;
        --left;
        plays.push_back({item, time_ms, {}});
        return true;
      });
    }
    if (const auto user = stripe.forgets.find(user_hash); user != stripe.forgets.end()) {
      for (const UnmergedForget& one : user->second) forgets.push_back(one.forget);
    }
  }
  if (is_indexed) look_for(stripe, placed, wanted.items, plays);
  found.recent_from = Offset(recent_from_.load(std::memory_order_seq_cst));
  for (auto play = plays.begin() + first; play != plays.end(); ++play)
    play->period = calendar_.period_of_ms(play->time_ms);
  plays.erase(
      std::remove_if(plays.begin() + first, plays.end(), [&](const RecentPlay& play) { return play.period < oldest; }),
      plays.end());
  return found;
}

int64_t RecentPlays::newest_play_ms(uint64_t user_hash, std::optional<ItemHash> item) const {
  const Stripe& stripe = stripes_[stripe_of(user_hash)];
  const PlacedUser placed = user_hash;
  int64_t newest_ms = ItemTimes::kNever;
  std::vector<RecentPlay> plays;
  std::lock_guard lock(stripe.mutex);
  for (const auto& table : stripe.tables) {
    if (const ItemTimes* const indexed = table->collect(placed, plays)) {
      newest_ms = std::max(newest_ms, item ? indexed->find(*item) : indexed->newest_ms());
    }
  }
  for (const RecentPlay& play : plays) {
    if (!item || play.item == *item) newest_ms = std::max(newest_ms, play.time_ms);
  }
  return newest_ms;
}

size_t RecentPlays::longest_search() const {
  size_t longest = 0;
  for (const Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    longest = std::max(longest, longest_bucket(stripe.forgets));
    for (const auto& table : stripe.tables) longest = std::max(longest, table->longest_search());
  }
  return longest;
}

RecentPlaysStats RecentPlays::stats() const {
  std::lock_guard lock(generations_mutex_);
  RecentPlaysStats stats{.bytes = bytes(),
                         .generations = generations_.size(),
                         .recent_from = Offset(recent_from_.load()),
                         .early_releases = early_releases_,
                         .over_bound = over_bound_};
  for (const Generation& generation : generations_) stats.plays += generation.plays;
  for (const Stripe& stripe : stripes_) {
    std::lock_guard stripe_lock(stripe.mutex);
    for (const auto& [user, forgets] : stripe.forgets) stats.forgets += forgets.size();
  }
  return stats;
}

}  // namespace bloomring
