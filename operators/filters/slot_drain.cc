#include "operators/filters/slot_drain.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "state/forget_rule.h"

namespace bloomring {

namespace {

// With fewer events, another pass would cost more than it saves.
constexpr size_t kEventsPerPassMin = 4096;

uint64_t events_of(const Drain& drain, const ForgetsByHour& forgets) {
  uint64_t events = 0;
  for (const StagedHour& staged : drain.hours) events += staged.events;
  for (const StagedHour& staged : drain.earlier) events += forgets.at(staged.hour).forgets;
  return events;
}

size_t pass_count(uint64_t events, const SlotDrainConfig& config, uint32_t shards) {
  const uint64_t bytes = events * SlotDrain::kPassBytesPerEvent;
  const uint64_t for_memory = (bytes + config.pass_bytes_max - 1) / config.pass_bytes_max;
  const uint64_t for_spread = std::min<uint64_t>(config.passes, events / kEventsPerPassMin);
  return std::clamp<uint64_t>(std::max(for_memory, for_spread), 1, shards);
}

// Of the earlier hours a drain needs the forgets.
Drain with_forgets(Drain drain, const ForgetsByHour& forgets) {
  std::erase_if(drain.earlier, [&](const StagedHour& staged) {
    const auto found = forgets.find(staged.hour);
    return found == forgets.end() || found->second.forgets == 0;
  });
  return drain;
}

ForgetsByHour all_of(const Drain& drain, ForgetsByHour forgets) {
  for (const StagedHour& staged : drain.hours) forgets.try_emplace(staged.hour);
  return forgets;
}

// Hash of the hours whose forgets the drain takes: its own and the earlier ones.
uint32_t forgets_digest(const Drain& drain, const ForgetsByHour& forgets) {
  uint64_t hash = 0;
  bool any = false;
  const auto take = [&](const StagedHour& staged) {
    const HourForgets& of_hour = forgets.at(staged.hour);
    if (of_hour.forgets == 0) return;
    const int64_t words[] = {staged.hour.value, staged.range.from.value, staged.range.to.value, of_hour.late_before_ms};
    hash = hash_bytes({reinterpret_cast<const char*>(words), sizeof words}, hash);
    any = true;
  };
  std::ranges::for_each(drain.hours, take);
  std::ranges::for_each(drain.earlier, take);
  return any ? static_cast<uint32_t>(hash) | 1 : 0;
}

}  // namespace

SlotDrain::SlotDrain(Drain drain, ForgetsByHour forgets, PartitionId partition, uint32_t partition_count,
                     SlotDrainConfig config)
    : drain_(with_forgets(std::move(drain), forgets)),
      forgets_of_(all_of(drain_, std::move(forgets))),
      partition_(partition),
      partition_count_(partition_count),
      config_(config),
      passes_(pass_count(events_of(drain_, forgets_of_), config, kShardCount / partition_count)),
      events_max_(config.pass_bytes_max / kPassBytesPerEvent * 5 / 4),
      writer_(header(), config.record_bytes) {
  totals_.header = header();
  for (const StagedHour& staged : drain_.hours) totals_.hours.push_back({staged.hour, staged.range});
}

DrainHeader SlotDrain::header() const {
  const OffsetRange range{drain_.hours.front().range.from, drain_.hours.back().range.to};
  return {partition_, partition_count_, range, drain_.attempt, forgets_digest(drain_, forgets_of_)};
}

SlotDrain::Shards SlotDrain::shards_of_pass() const {
  const uint32_t shards = kShardCount / partition_count_;
  const uint32_t first = static_cast<uint32_t>(partition_.value) * shards;
  return {static_cast<uint32_t>(first + shards * pass_ / passes_),
          static_cast<uint32_t>(first + shards * (pass_ + 1) / passes_)};
}

Status SlotDrain::next_pass(WindowStore& store, std::vector<std::string>& records) {
  // No part is left: the next pass begins, as one part.
  if (parts_.empty()) parts_.push_back({shards_of_pass()});
  part_ = parts_.back();
  parts_.pop_back();
  BLOOMRING_TRY(collect_part(store));
  // Too large: nothing is emitted, and the pieces are read later. Otherwise: the part is emitted.
  if (too_large_) {
    cut_part();
  } else {
    emit(records);
  }
  free_part();
  if (parts_.empty()) ++pass_;
  return {};
}

Status SlotDrain::collect_part(WindowStore& store) {
  too_large_ = false;
  // Reserves address space; unused pages take no memory.
  plays_.reserve(std::min<uint64_t>(events_of(drain_, forgets_of_), events_max_));
  for (const StagedHour& staged : drain_.hours) BLOOMRING_TRY(scan(store, staged, Take::kAll));
  for (const StagedHour& staged : drain_.earlier) BLOOMRING_TRY(scan(store, staged, Take::kForgets));
  events_in_memory_max_ = std::max(events_in_memory_max_, events_in_memory());
  return {};
}

Status SlotDrain::scan(WindowStore& store, const StagedHour& staged, Take take) {
  const bool merged = std::ranges::find(merged_, staged.hour) != merged_.end();
  // Too large: the part is read again in pieces. Merged: the hour may be gone from the store.
  if (too_large_ || merged) return {};
  uint64_t events = 0;
  BLOOMRING_TRY(store.scan(staged.hour, [&](Offset offset, std::string_view block) {
    // Only blocks of the hour's range: those applied after the clock sealed the slot belong to another hour.
    if (offset < staged.range.from || offset >= staged.range.to || too_large_) return Status();
    EventBlockReader reader = EventBlockReader::reopen(block);
    events += reader.events();
    collect(offset, reader, late_before_ms(staged.hour), take);
    return Status();
  }));
  // Stopped early, or all staged events are there; anything else is damage.
  if (too_large_ || events == staged.events) return {};
  const std::string partition = std::to_string(partition_.value);
  return fatal("hour " + std::to_string(staged.hour.value) + " of partition " + partition + ": " +
               std::to_string(staged.events) + " events were staged, the local state has " +
               std::to_string(events) + ": remove the folder window-" + partition +
               " below state.path; the log is read again from the merged watermark");
}

void SlotDrain::collect(Offset offset, EventBlockReader& reader, int64_t late_before_ms, Take take) {
  while (reader.next_user()) {
    const UserRef by = reader.user();
    const uint32_t shard = by.shard().value;
    // A user of another part.
    if (shard < part_.shards.from || shard >= part_.shards.to) continue;
    const uint32_t user = take == Take::kAll ? users_.find_or_add(by) : 0;
    while (reader.next_event()) {
      const Event& event = reader.event();
      const bool play = event.kind == EventKind::kPlay && take == Take::kAll;
      const bool forget = is_forget(event.kind);
      const bool everything = event.kind == EventKind::kForgetAll;
      // Skipped: serves, plays of earlier hours, and items of another part. A forget of everything goes with each part.
      if ((!play && !forget) || (!everything && !part_.takes(event.item))) continue;
      if (events_in_memory() + 2 > events_max_ && !make_room()) return;
      if (play) {
        plays_.push_back({DrainedPlay::at(event.time_ms, event.item), user});
        continue;
      }
      const bool late = forget_rule::is_late(event.time_ms, late_before_ms);
      forgets_.push_back({users_.find_or_add(by),
                          {everything, late, event.item, event.time_ms, offset}});
    }
  }
}

// Called when the memory of the pass is used up. False when the part must be cut.
bool SlotDrain::make_room() {
  events_in_memory_max_ = std::max(events_in_memory_max_, events_in_memory());
  drop_repeats();
  // Below three quarters dropping was worth its time. A part that cannot be cut continues in any case.
  too_large_ = events_in_memory() > events_max_ / 4 * 3 && part_.can_be_cut();
  return !too_large_;
}

void SlotDrain::drop_repeats() {
  sort_forgets();
  std::ranges::sort(plays_, [](const Play& a, const Play& b) {
    return std::tie(a.user, a.play) > std::tie(b.user, b.play);  // The latest of repeats first: it stays.
  });
  const auto repeat = [](const Play& a, const Play& b) {
    return a.user == b.user && a.play.quarter == b.play.quarter && a.play.item == b.play.item;
  };
  plays_.erase(std::unique(plays_.begin(), plays_.end(), repeat), plays_.end());
}

// Cuts off the fullest shard if it holds much; otherwise cuts in the middle. Cuts a single shard by items.
void SlotDrain::cut_part() {
  const Shards shards = part_.shards;
  // One shard: two halves of its range of items, the lower one next.
  if (shards.to - shards.from == 1) {
    const uint64_t middle = part_.item_first + (part_.item_last - part_.item_first) / 2;
    parts_.push_back({shards, middle + 1, part_.item_last});
    parts_.push_back({shards, part_.item_first, middle});
    return;
  }
  // Several shards: two halves, or the fullest shard and those before and after it; the lowest comes next.
  std::vector<uint32_t> borders = {shards.from, shards.from + (shards.to - shards.from) / 2, shards.to};
  if (const auto full = full_shard()) borders = {shards.from, *full, *full + 1, shards.to};
  for (size_t i = borders.size() - 1; i > 0; --i) {
    if (borders[i - 1] < borders[i]) parts_.push_back({{borders[i - 1], borders[i]}});
  }
}

// The shard with the most events, if it has at least an eighth of them.
std::optional<uint32_t> SlotDrain::full_shard() const {
  std::vector<uint64_t> events(part_.shards.to - part_.shards.from);
  const auto count = [&](uint32_t user) { ++events[shard_of_hash(users_.hash(user)).value - part_.shards.from]; };
  for (const Play& play : plays_) count(play.user);
  for (const UserForget& forget : forgets_) count(forget.user);
  const auto fullest = std::ranges::max_element(events);
  if (*fullest < (plays_.size() + forgets_.size()) / 8) return std::nullopt;
  return part_.shards.from + static_cast<uint32_t>(fullest - events.begin());
}

// Frees the memory of the part: otherwise each of many draining partitions would keep that of a pass.
void SlotDrain::free_part() {
  plays_ = {};
  forgets_ = {};
  sorted_ = {};
  users_ = UserTable();
}

// A counting sort by user; `plays_of` sorts each user's plays.
void SlotDrain::sort_plays() {
  begins_.assign(users_.size() + 1, 0);
  for (const Play& play : plays_) ++begins_[play.user + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  sorted_.resize(plays_.size());
  std::vector<uint32_t> at(begins_.begin(), begins_.end() - 1);
  for (const Play& play : plays_) sorted_[at[play.user]++] = play.play;
}

// Sorts by user, kind, lateness, item and time. Keeps the latest forget of each item, and each earlier one that was
// logged after it: when the merge stage has merged records between the two, the latest one is passed and reaches less
// far (state/forget_rule.h), and the earlier one farther.
void SlotDrain::sort_forgets() {
  std::sort(forgets_.begin(), forgets_.end(), std::greater<>());
  const auto says_less = [](const UserForget& a, const UserForget& b) {
    return a.user == b.user && a.forget.same_target(b.forget) && a.forget.late == b.forget.late &&
           b.forget.offset <= a.forget.offset;
  };
  forgets_.erase(std::unique(forgets_.begin(), forgets_.end(), says_less), forgets_.end());
  std::reverse(forgets_.begin(), forgets_.end());
}

// Keeps the latest of repeats of an item in a quarter.
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

// Calls come in the order of users; `at` is the place in forgets_.
std::span<const Forget> SlotDrain::forgets_of(uint32_t user, size_t& at) {
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
    writer_.add(users_.key(user), forgets, plays, records);
    totals_.plays += plays.size();
  }
  writer_.close(records);
}

void SlotDrain::drop_merged(const MergedWatermark& watermark) {
  const auto note = [&](const StagedHour& staged) {
    if (watermark.covers(staged.range)) merged_.push_back(staged.hour);
  };
  merged_.clear();
  std::ranges::for_each(drain_.hours, note);
  std::ranges::for_each(drain_.earlier, note);
  std::erase_if(totals_.hours, [&](const DrainedHour& drained) { return watermark.covers(drained.range); });
}

SlotEnd SlotDrain::end() const {
  SlotEnd end = totals_;
  end.users = writer_.batches();
  end.records = writer_.records();
  end.digest = writer_.digest();
  return end;
}

}  // namespace bloomring
