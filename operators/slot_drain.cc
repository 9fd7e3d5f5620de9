#include "operators/slot_drain.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"
#include "schemas/event_block.h"

namespace bloomring {

namespace {

// What one play takes in memory during a pass: the entry, its sorted copy and its share of the user table.
constexpr size_t kPassBytesPerPlay = 16 + 16 + 16;
// Below so many events a further pass would cost more than it saves.
constexpr size_t kEventsPerPassMin = 4096;

uint64_t events_of(const Drain& drain) {
  uint64_t events = 0;
  for (const StagedHour& staged : drain.hours) events += staged.events;
  return events;
}

size_t pass_count(const Drain& drain, const SlotDrainConfig& config, uint32_t shards) {
  const uint64_t events = events_of(drain);
  const uint64_t for_memory = (events * kPassBytesPerPlay + config.pass_bytes_max - 1) / config.pass_bytes_max;
  const uint64_t for_spread = std::min<uint64_t>(config.passes, events / kEventsPerPassMin);
  return std::clamp<uint64_t>(std::max(for_memory, for_spread), 1, shards);
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
  return {partition_, partition_count_, {drain_.hours.front().range.from, drain_.hours.back().range.to}, drain_.attempt};
}

Status SlotDrain::next_pass(WindowStore& store, std::vector<std::string>& records) {
  const uint32_t shards = kShardCount / partition_count_;
  const uint32_t first_shard = static_cast<uint32_t>(partition_.value) * shards;
  const auto shard_from = static_cast<uint32_t>(first_shard + shards * pass_ / passes_);
  const auto shard_to = static_cast<uint32_t>(first_shard + shards * (pass_ + 1) / passes_);
  plays_.reserve(expected_plays_);
  for (const StagedHour& staged : drain_.hours) {
    BLOOMRING_TRY(store.scan(staged.hour, [&](Offset offset, std::string_view block) {
      // Blocks applied after the slot was sealed by the clock belong to another hour; a scan never meets them.
      if (offset >= staged.range.from && offset < staged.range.to) collect(block, shard_from, shard_to);
      return Status();
    }));
  }
  emit(records);
  // Other partitions drain meanwhile: what a pass took must not stay with each of them.
  plays_ = {};
  sorted_ = {};
  users_ = UserTable();
  ++pass_;
  return {};
}

void SlotDrain::collect(std::string_view block, uint32_t shard_from, uint32_t shard_to) {
  EventBlockReader reader = EventBlockReader::reopen(block);
  while (reader.next_user()) {
    const uint64_t hash = user_hash(reader.user_key());
    const uint32_t shard = shard_of_hash(hash).value;
    if (shard < shard_from || shard >= shard_to) continue;
    const uint32_t user = users_.find_or_add(reader.user_key(), hash);
    while (reader.next_event()) {
      const Event& event = reader.event();
      if (event.kind != EventKind::kPlay) continue;
      plays_.push_back({user, static_cast<uint32_t>(quarter_of(event.time_ms).value), event.item.value});
    }
  }
}

void SlotDrain::emit(std::vector<std::string>& records) {
  // A counting sort by user, then a small sort for each user.
  begins_.assign(users_.size() + 1, 0);
  for (const Play& play : plays_) ++begins_[play.user + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  sorted_.resize(plays_.size());
  std::vector<uint32_t> at(begins_.begin(), begins_.end() - 1);
  for (const Play& play : plays_) sorted_[at[play.user]++] = {QuarterIndex(play.quarter), ItemHash(play.item)};

  for (uint32_t user = 0; user < users_.size(); ++user) {
    const auto begin = sorted_.begin() + begins_[user];
    const auto end = sorted_.begin() + begins_[user + 1];
    if (begin == end) continue;
    std::sort(begin, end);
    const auto unique_end = std::unique(begin, end);
    builder_.add(users_.key(user), {begin, unique_end});
    ++totals_.users;
    totals_.plays += static_cast<uint64_t>(unique_end - begin);
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
