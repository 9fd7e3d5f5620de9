#include "operators/slot_drain.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/hash.h"
#include "schemas/event_block.h"

namespace bloomring {

namespace {

// What one event takes in memory during a pass: the entry, its sorted copy and its share of the user table.
constexpr size_t kPassBytesPerEvent = 24 + 16 + 16;
// Below so many events a further pass would cost more than it saves.
constexpr size_t kEventsPerPassMin = 4096;

uint64_t events_of(const Drain& drain) {
  uint64_t events = 0;
  for (const StagedHour& staged : drain.hours) events += staged.events;
  for (const StagedHour& staged : drain.earlier) events += staged.forgets;
  return events;
}

size_t pass_count(const Drain& drain, const SlotDrainConfig& config, uint32_t shards) {
  const uint64_t events = events_of(drain);
  const uint64_t for_memory = (events * kPassBytesPerEvent + config.pass_bytes_max - 1) / config.pass_bytes_max;
  const uint64_t for_spread = std::min<uint64_t>(config.passes, events / kEventsPerPassMin);
  return std::clamp<uint64_t>(std::max(for_memory, for_spread), 1, shards);
}

// Of the hours whose forgets the drain takes: its own and the earlier ones.
uint32_t forgets_digest(const Drain& drain) {
  uint64_t hash = 0;
  bool any = false;
  const auto take = [&](const StagedHour& staged) {
    if (staged.forgets == 0) return;
    const int64_t words[] = {staged.hour.value, staged.range.from.value, staged.range.to.value, staged.late_before_ms};
    hash = hash_bytes({reinterpret_cast<const char*>(words), sizeof words}, hash);
    any = true;
  };
  std::ranges::for_each(drain.hours, take);
  std::ranges::for_each(drain.earlier, take);
  return any ? static_cast<uint32_t>(hash) | 1 : 0;
}

}  // namespace

SlotDrain::SlotDrain(Drain drain, PartitionId partition, uint32_t partition_count, SlotDrainConfig config)
    : drain_(std::move(drain)),
      partition_(partition),
      partition_count_(partition_count),
      config_(config),
      passes_(pass_count(drain_, config, kShardCount / partition_count)),
      expected_plays_(events_of(drain_) / passes_ * 9 / 8) {
  totals_.header = header();
  for (const StagedHour& staged : drain_.hours) totals_.hours.push_back({staged.hour, staged.range});
}

DrainHeader SlotDrain::header() const {
  const OffsetRange range{drain_.hours.front().range.from, drain_.hours.back().range.to};
  return {partition_, partition_count_, range, drain_.attempt, forgets_digest(drain_)};
}

SlotDrain::Shards SlotDrain::shards_of_pass() const {
  const uint32_t shards = kShardCount / partition_count_;
  const uint32_t first = static_cast<uint32_t>(partition_.value) * shards;
  return {static_cast<uint32_t>(first + shards * pass_ / passes_),
          static_cast<uint32_t>(first + shards * (pass_ + 1) / passes_)};
}

Status SlotDrain::next_pass(WindowStore& store, std::vector<std::string>& records) {
  const Shards shards = shards_of_pass();
  plays_.reserve(expected_plays_);
  for (const StagedHour& staged : drain_.hours) BLOOMRING_TRY(scan(store, staged, shards, Take::kAll));
  for (const StagedHour& staged : drain_.earlier) BLOOMRING_TRY(scan(store, staged, shards, Take::kForgets));
  emit(records);
  // Other partitions drain meanwhile: what a pass took must not stay with each of them.
  plays_ = {};
  forgets_ = {};
  sorted_ = {};
  users_ = UserTable();
  ++pass_;
  return {};
}

Status SlotDrain::scan(WindowStore& store, const StagedHour& staged, Shards shards, Take take) {
  return store.scan(staged.hour, [&](Offset offset, std::string_view block) {
    // Blocks applied after the slot was sealed by the clock belong to another hour; a scan never meets them.
    if (offset >= staged.range.from && offset < staged.range.to)
      collect(offset, block, staged.late_before_ms, shards, take);
    return Status();
  });
}

void SlotDrain::collect(Offset offset, std::string_view block, int64_t late_before_ms, Shards shards, Take take) {
  EventBlockReader reader = EventBlockReader::reopen(block);
  while (reader.next_user()) {
    const uint64_t hash = user_hash(reader.user_key());
    const uint32_t shard = shard_of_hash(hash).value;
    if (shard < shards.from || shard >= shards.to) continue;
    const uint32_t user = take == Take::kAll ? users_.find_or_add(reader.user_key(), hash) : 0;
    while (reader.next_event()) {
      const Event& event = reader.event();
      if (event.kind == EventKind::kPlay && take == Take::kAll) {
        plays_.push_back({DrainedPlay::at(event.time_ms, event.item), user});
      } else if (is_forget(event.kind)) {
        const bool late = event.time_ms < late_before_ms;
        const DrainedForget forget{event.kind == EventKind::kForgetAll, late, event.item, event.time_ms, offset};
        forgets_.push_back({users_.find_or_add(reader.user_key(), hash), forget});
      }
    }
  }
}

// A counting sort by user; each user's plays are sorted when their turn comes.
void SlotDrain::sort_plays() {
  begins_.assign(users_.size() + 1, 0);
  for (const Play& play : plays_) ++begins_[play.user + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  sorted_.resize(plays_.size());
  std::vector<uint32_t> at(begins_.begin(), begins_.end() - 1);
  for (const Play& play : plays_) sorted_[at[play.user]++] = play.play;
}

// By user, kind, lateness, item and time; of each item the latest forget stays.
void SlotDrain::sort_forgets() {
  std::sort(forgets_.begin(), forgets_.end(), std::greater<>());
  const auto same = [](const Forget& a, const Forget& b) {
    return a.user == b.user && a.forget.everything == b.forget.everything && a.forget.late == b.forget.late &&
           a.forget.item == b.forget.item;
  };
  forgets_.erase(std::unique(forgets_.begin(), forgets_.end(), same), forgets_.end());
  std::reverse(forgets_.begin(), forgets_.end());
}

// Of repeats of an item in a quarter the latest stays.
std::span<const DrainedPlay> SlotDrain::plays_of(uint32_t user) {
  const auto begin = sorted_.begin() + begins_[user];
  const auto end = sorted_.begin() + begins_[user + 1];
  std::sort(begin, end);
  auto kept = begin;
  for (auto play = begin; play != end; ++play) {
    const bool repeat = kept != begin && (kept - 1)->quarter == play->quarter && (kept - 1)->item == play->item;
    *(repeat ? kept - 1 : kept++) = *play;
  }
  return {begin, kept};
}

// `at` walks over forgets_ as the users come.
std::span<const DrainedForget> SlotDrain::forgets_of(uint32_t user, size_t& at) {
  user_forgets_.clear();
  for (; at < forgets_.size() && forgets_[at].user == user; ++at) user_forgets_.push_back(forgets_[at].forget);
  return user_forgets_;
}

void SlotDrain::emit(std::vector<std::string>& records) {
  sort_plays();
  sort_forgets();
  size_t at = 0;
  for (uint32_t user = 0; user < users_.size(); ++user) {
    const auto plays = plays_of(user);
    const auto forgets = forgets_of(user, at);
    if (plays.empty() && forgets.empty()) continue;
    builder_.add(users_.key(user), forgets, plays);
    ++totals_.users;
    totals_.plays += plays.size();
    if (builder_.bytes() >= config_.record_bytes) close_record(records);
  }
  if (builder_.users() > 0) close_record(records);
}

void SlotDrain::close_record(std::vector<std::string>& records) {
  records.push_back(builder_.finish(header()));
  ++totals_.records;
}

void SlotDrain::forget(const std::vector<HourIndex>& released) {
  std::erase_if(totals_.hours, [&](const DrainedHour& drained) {
    return std::find(released.begin(), released.end(), drained.hour) != released.end();
  });
}

SlotEnd SlotDrain::slot_end() const { return totals_; }

}  // namespace bloomring
