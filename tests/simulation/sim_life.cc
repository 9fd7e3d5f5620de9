// The events that reach the simulated world from outside: producers, callers, time and faults.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "serving/query/forget_time.h"
#include "state/forget_rule.h"
#include "tests/simulation/sim_world.h"

namespace bloomring::simulation {

namespace {

constexpr int kUsers = 24;
constexpr int kItems = 120;
const std::string kPlays = "plays";
const std::string kEvents = "user-events";
const std::string kBatches = "user-batches";

std::string user_name(uint64_t n) { return "user-" + std::to_string(n); }
std::string item_name(uint64_t n) { return "item-" + std::to_string(n); }
std::string scene_of(uint64_t user) { return user % 5 == 0 ? "feed" : ""; }

}  // namespace

// An event through a plays topic: mostly a play, a few serves and forgets.
void World::produce_one() {
  const uint64_t user = one_in(random_, 3) ? random_() % kUsers : random_() % 3;
  const int64_t now_ms = caller_clock_.now_ms();
  int64_t time = now_ms - static_cast<int64_t>(random_() % 60'000);
  if (one_in(random_, 10)) time -= static_cast<int64_t>(random_() % (40LL * 24 * 3'600'000));  // Late.
  if (one_in(random_, 10)) time = now_ms + static_cast<int64_t>(random_() % 590'000);  // Ahead.
  EventKind kind = EventKind::kPlay;
  if (one_in(random_, 12)) kind = one_in(random_, 6) ? EventKind::kForgetAll : EventKind::kForget;
  if (one_in(random_, 12)) kind = EventKind::kServe;
  constexpr std::string_view kNames[] = {"", "play", "serve", "forget", "forget_all"};
  const std::string item = item_name(random_() % kItems), scene = scene_of(user);
  const std::string json = R"({"event":")" + std::string(kNames[static_cast<size_t>(kind)]) + R"(","user":")" +
                           user_name(user) + R"(","item":")" + item + R"(","scene":")" + scene + R"(","time":)" +
                           std::to_string(time) + "}";
  const ItemHash hash = kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(item);
  const size_t said = ledger_.new_event(std::string(UserKey(scene, user_name(user)).bytes()), {kind, hash, time},
                                        time > clock_.now_ms() - Ledger::kForgetBehindMaxMs);
  const int copies = one_in(random_, 10) ? 2 : 1;
  for (int c = 0; c < copies; ++c) append_play(said, json, random_() % kPlaysPartitions);
  ++tally_.plays;
}

// A user who plays hundreds of items at once: thousands in a period.
void World::burst() {
  const UserKey user("", "user-hot");
  const uint64_t plays = random_() % 600;
  for (uint64_t i = 0; i < plays; ++i) {
    const std::string item = "hot-" + std::to_string(random_() % 20'000);
    const int64_t time = clock_.now_ms() - static_cast<int64_t>(random_() % 60'000);
    const std::string json = R"({"user":"user-hot","item":")" + item + R"(","time":)" + std::to_string(time) + "}";
    const size_t said = ledger_.new_event(std::string(user.bytes()), {EventKind::kPlay, item_hash(item), time}, true);
    append_play(said, json, random_() % kPlaysPartitions);
  }
  tally_.plays += plays;
  tally_.burst_plays += plays;
}

// A transaction is committed or aborted.
void World::leave_gap() {
  const std::string topics[] = {kPlays, kEvents, kBatches};
  const std::string& topic = topics[random_() % 3];
  const auto p = static_cast<int32_t>(random_() % (topic == kPlays ? kPlaysPartitions : kPartitions));
  for (uint64_t left = random_() % 5; left > 0; --left) {
    log_.append_gap(topic, PartitionId(p));
    if (topic == kPlays) ledger_.appended_gap(static_cast<size_t>(p));
    ++tally_.gaps;
  }
}

void World::refuse(const std::string& bytes) {
  append_play(ledger_.new_refused(bytes), bytes, 0);
  ++refused_[Ledger::dead_name(bytes, bytes.size())];
  ++tally_.refused;
}

void World::append_play(size_t said, const std::string& json, uint64_t p) {
  ledger_.appended(said, p);
  // A replay takes the time of the record for that of the reading.
  if (replays_) ledger_.ingest_stepped(clock_.now_ms());
  log_.append(kPlays, PartitionId(static_cast<int32_t>(p)), json);
}

// One append by a call: durable in the log, and noted by the replica that took it when the acknowledgement comes,
// which may be after the record itself.
int64_t World::append_call(const UserKey& key, Event event) {
  const UserRef user(key.bytes());
  const PartitionId partition = partition_of(user.shard(), kPartitions);
  const auto p = static_cast<size_t>(partition.value);
  EventBlockBuilder builder;
  builder.add(user, event);
  ledger_.called(std::string(key.bytes()), event);
  log_.append(kEvents, partition, builder.finish(partition, kPartitions));
  const auto& records = log_.partition(kEvents, partition);
  const int64_t log_time_ms = records.back().log_time_ms;
  const auto offset = static_cast<int64_t>(records.size()) - 1;
  if (one_in(random_, 2)) step_replica(partition.value);
  if (!replicas_[p]) return log_time_ms;
  tally_.read_before_noted += replicas_[p]->next() > Offset(offset);
  held_[p]->log_time().saw(log_time_ms, clock_.steady_ns());
  if (event.kind == EventKind::kServe) {
    event.time_ms = std::min(event.time_ms, log_time_ms);
    held_[p]->note_served(user.hash, event.item, event.time_ms);
  } else {
    held_[p]->note_forget(user.hash, event, Offset(offset));
  }
  noted_[p].push_back({offset, std::string(key.bytes()), event});
  return log_time_ms;
}

// A call of the query service, as serving/service/filter_service.h takes it.
void World::call() {
  const uint64_t user = random_() % 6;
  const UserKey key(scene_of(user), user_name(user));
  const auto p = static_cast<size_t>(partition_of(shard_of(key.bytes()), kPartitions).value);
  if (!replicas_[p] || replica_outdated_[p]) return;
  const bool serve = one_in(random_, 3);
  const std::optional<ItemHash> item =
      !serve && one_in(random_, 4) ? std::nullopt : std::optional(item_hash(item_name(random_() % kItems)));
  ++tally_.calls;
  if (serve) {
    append_call(key, {EventKind::kServe, *item, core_->now(held_[p]->log_time()).latest_ms});
    return;
  }
  Event event{item ? EventKind::kForget : EventKind::kForgetAll, item.value_or(ItemHash(0)), 0};
  std::optional<int64_t> log_told_ms;
  for (int tries = 0; tries < 3 && replicas_[p] && !replica_outdated_[p]; ++tries) {
    event.time_ms = forget_time_ms(*core_, *held_[p], user_hash(key.bytes()), item, log_told_ms);
    const int64_t log_time_ms = append_call(key, event);
    log_told_ms = log_time_ms;
    const bool late = forget_rule::is_logged_late(event.time_ms, log_time_ms, ring_.slot_ms);
    if (!late && !is_short_forget(event.time_ms, log_time_ms, 0)) break;
  }
  if (replicas_[p] && !replica_outdated_[p]) check_forget_time(event.time_ms);
}

void World::produce() {
  // A few busy users, the others quiet for long.
  const uint64_t events = one_in(random_, 3) ? 0 : random_() % 12;
  for (uint64_t i = 0; i < events; ++i) produce_one();
  if (bursts_ && one_in(random_, 60)) burst();
  if (one_in(random_, 10)) call();
  if (one_in(random_, 30)) leave_gap();
  if (one_in(random_, 20)) {
    const std::string bad = R"({"user":"u","item":)" + std::to_string(random_() % 1000) + R"(,"time":"no time"})";
    refuse(bad);
  }
  // Brokers take it, by itself or compressed with others, and no message of ours may be so large.
  if (limits_ && one_in(random_, 300)) {
    refuse(R"({"user":"u","item":"large-)" + std::to_string(random_()) + R"(","pad":")" +
           std::string(1'000'000 + random_() % 40'000, 'x') + R"("})");
    ++tally_.large;
  }
}

void World::advance_clock() {
  int64_t step_ms = static_cast<int64_t>(random_() % 900);
  if (one_in(random_, 60)) step_ms = static_cast<int64_t>(random_() % 25'000);  // A few slots at once.
  if (faults_ && one_in(random_, 900))
    step_ms = static_cast<int64_t>(random_() % (20LL * 24 * 3'600'000));  // A month may turn.
  tally_.months += calendar_.period_of_ms(clock_.now_ms()) != calendar_.period_of_ms(clock_.now_ms() + step_ms);
  clock_.advance_ms(step_ms);
}

void World::strike() {
  if (one_in(random_, 120)) crash_ingest();
  if (one_in(random_, 60)) rebalance_ingest();
  if (one_in(random_, 80)) ingest_stalled_ = static_cast<int>(random_() % 20);
  if (leaders_go_ && one_in(random_, 60)) {
    log_.leaderless.emplace("user-events", static_cast<int32_t>(random_() % kPartitions));
  } else if (leaders_go_ && one_in(random_, 60)) {
    log_.leaderless.clear();
  }
  if (one_in(random_, 80)) crash_window(static_cast<int32_t>(random_() % kPartitions));
  if (one_in(random_, 120)) crash_merges();
  if (one_in(random_, 200)) crash_replica(static_cast<int32_t>(random_() % kPartitions));
  if (one_in(random_, 150)) replica_stalled_[random_() % kPartitions] = static_cast<int>(random_() % 60);
  if (one_in(random_, 300)) windows_paused_ = static_cast<int>(random_() % 200);
  if (one_in(random_, 300)) merges_paused_ = static_cast<int>(random_() % 300);  // More than a lap behind.
  if (one_in(random_, 100)) {
    filters_->fail_next(static_cast<int>(random_() % 60));
    ++tally_.store_outages;
  }
  if (one_in(random_, 400)) {
    const int64_t away_ms = static_cast<int64_t>(random_() % (2 * ring_.slots)) * ring_.slot_ms;
    filters_->fail_until_ms(merge_clock_.now_ms() + away_ms);
    ++tally_.long_outages;
  }
  if (clocks_go_wrong_ && one_in(random_, 100)) set_window_clock_off(random_() % kPartitions);
  if (clocks_go_wrong_ && one_in(random_, 50)) set_clocks_off(kClocksOffMaxMs);
  const bool paused = ingest_ && ingest_->clock().state() == IngestClock::State::kOff;
  if (paused && one_in(random_, 40)) ingest_clock_.set_off_ms(0);
  if (one_in(random_, 300)) backup_ = filters_->backup();
  if (one_in(random_, 600)) restore_backup();
  if (one_in(random_, 600)) lose_batches();
  if (forger_ && one_in(random_, 20)) forge();
  if (logs_replaced_ && one_in(random_, 400)) replace_log();
  if (logs_cut_ && one_in(random_, 200)) cut_log();
  if (logs_expire_ && one_in(random_, 200)) expire_log();
}

// The wall clock of a partition's window process is wrong by up to 500 hours of the ring, or right again.
void World::set_window_clock_off(size_t partition) {
  const int64_t hours = one_in(random_, 2) ? 0 : static_cast<int64_t>(random_() % 1000) - 500;
  window_clock_off_ms_[partition] = hours * ring_.slot_ms;
  ++tally_.clock_steps;
}

// One of the other clocks is wrong by up to so much, or right again. That of ingest may be wrong by months, that of the
// replicas by more years than a question can read.
void World::set_clocks_off(int64_t most_ms) {
  SimClock* clocks[] = {&ingest_clock_, &broker_clock_, &merge_clock_, &caller_clock_, &serve_clock_};
  SimClock& clock = *clocks[random_() % std::size(clocks)];
  constexpr int64_t kDayMs = 86'400'000;
  if (&clock == &serve_clock_ && one_in(random_, 2)) most_ms = (one_in(random_, 8) ? 4'000 : 100) * kDayMs;
  if (&clock == &ingest_clock_ && one_in(random_, 2)) most_ms = (one_in(random_, 2) ? 1 : 100) * kDayMs;
  clock.set_off_ms(one_in(random_, 3) ? 0 : static_cast<int64_t>(random_() % (2 * most_ms)) - most_ms);
  ++tally_.clock_steps;
}

// The merge process was away for so long that batches have left their topic unread.
void World::lose_batches() {
  crash_merges();
  for (int32_t p = 0; p < kPartitions; ++p) {
    const PartitionId partition(p);
    Offset& start = log_.start(kBatches, partition);
    const int64_t left = log_.end(kBatches, partition).value - start.value;
    start = Offset(start.value + static_cast<int64_t>(random_() % static_cast<uint64_t>(left + 1)));
  }
}

// Somebody who knows the formats, and not the store's key, writes user-batches: a slot end of a drain without batches,
// over some range from anywhere in the log to far beyond its end.
void World::forge() {
  const PartitionId partition(static_cast<int32_t>(random_() % kPartitions));
  const auto logged = static_cast<uint64_t>(log_.end(kEvents, partition).value);
  const Offset from(static_cast<int64_t>(random_() % (logged + 1)));
  const OffsetRange range{from, Offset(from.value + 1 + static_cast<int64_t>(random_() % 1000))};
  SlotEnd end{{partition, kPartitions, range}, {{HourIndex(clock_.now_ms() / ring_.slot_ms), range}}};
  if (one_in(random_, 3)) {
    end.version = kSlotEndVersionWithoutSum;
  } else {
    end.keyed_sum = random_();
  }
  log_.append(kBatches, partition, encode_slot_end(end));
  ++tally_.forged;
}

// The merge process stops, the store becomes what it was at the backup, and the process starts again. What had been
// merged since is not unseen for good: the windows read the log again.
void World::restore_backup() {
  for (auto& merge : merges_) merge.reset();
  filters_->restore(backup_);
  ++tally_.restores;
  for (int32_t p = 0; p < kPartitions; ++p) logged_at_restore_[p] = log_.partition(kEvents, PartitionId(p)).size();
  for (int32_t p = 0; p < kPartitions; ++p) {
    watermark_floor_[p] = 0;
    log_.committed("window", kEvents, PartitionId(p)) = -1;  // Of the time before; later ones must keep the law again.
    window_outdated_[p] = windows_[p] != nullptr;
    replica_outdated_[p] = replicas_[p] != nullptr;
  }
}

}  // namespace bloomring::simulation
