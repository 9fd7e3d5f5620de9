#include "serving/recent_plays.h"

#include <algorithm>

#include "base/hash.h"

namespace bloomring {

namespace {
// How far ahead the table entry of a play is asked for while the plays before it are inserted.
constexpr size_t kPrefetchAhead = 8;
}  // namespace

RecentPlays::RecentPlays(const RecentPlaysConfig& config, Calendar calendar, Offset start)
    : config_(config), calendar_(std::move(calendar)), held_from_(start.value), applied_(start.value) {
  BLOOMRING_CHECK(config.slot_ms > 0, "a slot has a length");
}

PeriodIndex RecentPlays::period_of(int64_t time_ms) {
  if (time_ms < period_begin_ms_ || time_ms >= period_end_ms_) {
    period_ = calendar_.period_of_ms(time_ms);
    period_begin_ms_ = calendar_.start_ms(period_);
    period_end_ms_ = calendar_.start_ms(PeriodIndex(period_.value + 1));
  }
  return period_;
}

void RecentPlays::begin_generation_if_due(Offset offset, int64_t log_time_ms) {
  newest_log_time_ms_ = std::max(newest_log_time_ms_, log_time_ms);
  const int64_t slot = newest_log_time_ms_ / config_.slot_ms;
  if (!generations_.empty() && generations_.back().slot == slot) return;
  for (Stripe& stripe : stripes_) {
    std::lock_guard lock(stripe.mutex);
    stripe.tables.push_back(std::make_unique<PlayTable>());
  }
  std::lock_guard lock(generations_mutex_);
  generations_.push_back({.slot = slot, .offsets = {offset, offset}});
}

size_t RecentPlays::collect(EventBlockReader& block) {
  size_t others = 0;
  while (block.next_user()) {
    const uint64_t hash = user_hash(block.user_key());
    std::vector<PendingPlay>& pending = pending_[stripe_of(hash)];
    while (block.next_event()) {
      const Event& event = block.event();
      if (event.kind == EventKind::kPlay) {
        pending.push_back({hash, {event.item, period_of(event.time_ms)}});
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
      if (i + kPrefetchAhead < pending.size()) table.prefetch(pending[i + kPrefetchAhead].user_hash);
      table.insert(pending[i].user_hash, pending[i].play.item, pending[i].play.period);
    }
    bytes_added += table.bytes() - bytes_before;
    plays += pending.size();
    pending.clear();
  }
  std::lock_guard lock(generations_mutex_);
  generations_.back().plays += plays;
  generations_.back().bytes += bytes_added;
  bytes_ += bytes_added;
}

size_t RecentPlays::apply(Offset offset, int64_t log_time_ms, EventBlockReader& block) {
  if (offset < applied()) return 0;
  begin_generation_if_due(offset, log_time_ms);
  const size_t others = collect(block);
  insert_pending();
  {
    std::lock_guard lock(generations_mutex_);
    generations_.back().offsets.to = Offset(offset.value + 1);
    generations_.back().newest_log_time_ms = newest_log_time_ms_;
  }
  applied_.store(offset.value + 1, std::memory_order_release);
  return others;
}

bool RecentPlays::may_drop(const Generation& oldest, const MergedWatermark& watermark, int64_t lap_floor_log_time_ms,
                           bool* early) const {
  if (!watermark.covers(oldest.offsets)) return false;
  *early = oldest.newest_log_time_ms >= lap_floor_log_time_ms;
  return !*early || bytes_ > config_.bytes_max;
}

void RecentPlays::drop_oldest() {
  // Raised first: a lookup that misses the dropped plays reads this value or a later one (see the header).
  held_from_.store(generations_.front().offsets.to.value, std::memory_order_seq_cst);
  for (Stripe& stripe : stripes_) {
    std::unique_ptr<PlayTable> dropped;  // Freed outside the lock.
    std::lock_guard lock(stripe.mutex);
    dropped.swap(stripe.tables.front());
    stripe.tables.pop_front();
  }
  std::lock_guard lock(generations_mutex_);
  bytes_ -= generations_.front().bytes;
  generations_.pop_front();
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
  over_bound_ = bytes_ > config_.bytes_max;
  return dropped;
}

Offset RecentPlays::lookup(uint64_t user_hash, PeriodIndex oldest, std::vector<RecentPlay>& out) const {
  const Stripe& stripe = stripes_[stripe_of(user_hash)];
  {
    std::lock_guard lock(stripe.mutex);
    for (const auto& table : stripe.tables) table->prefetch(user_hash);
    for (auto table = stripe.tables.rbegin(); table != stripe.tables.rend(); ++table) {
      (*table)->collect(user_hash, oldest, out);
    }
  }
  return Offset(held_from_.load(std::memory_order_seq_cst));
}

RecentPlaysStats RecentPlays::stats() const {
  std::lock_guard lock(generations_mutex_);
  RecentPlaysStats stats{.bytes = bytes_, .generations = generations_.size(), .held_from = Offset(held_from_.load()),
                         .applied = applied(), .early_releases = early_releases_, .over_bound = over_bound_};
  for (const Generation& generation : generations_) stats.plays += generation.plays;
  return stats;
}

}  // namespace bloomring
