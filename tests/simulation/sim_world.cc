#include "tests/simulation/sim_world.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/fault_point.h"
#include "base/hash.h"
#include "operators/window_start.h"
#include "schemas/event_block.h"
#include "state/filter/filter.h"

namespace bloomring::simulation {

namespace {

constexpr int64_t kStartMs = 1'793'404'800'000;  // 2026-10-31T00:00:00Z: a month turn is near.
constexpr int kUsers = 24;
constexpr int kItems = 120;
const std::string kPlays = "plays";
const std::string kEvents = "user-events";
const std::string kBatches = "user-batches";
const std::string kDead = "plays-dead";

Calendar make_calendar() {
  RetentionConfig config;
  config.time_zone = "Asia/Kolkata";  // Half an hour off the hour, so that periods do not turn with UTC's hours.
  auto calendar = Calendar::create(config);
  REQUIRE(calendar.ok());
  return *calendar;
}

std::string user_name(uint64_t n) { return "user-" + std::to_string(n); }
std::string item_name(uint64_t n) { return "item-" + std::to_string(n); }
std::string scene_of(uint64_t user) { return user % 5 == 0 ? "feed" : ""; }

}  // namespace

World::World(uint64_t seed)
    : random_(seed),
      clock_(kStartMs + static_cast<int64_t>(seed % 48) * 3'600'000),
      calendar_(make_calendar()),
      ring_{static_cast<uint32_t>(3 + seed % 4), 10'000},
      log_(random_, clock_),
      filters_(make_filters()),
      core_(std::make_unique<CandidateFilter>(*filters_, calendar_, clock_, CandidateFilterConfig{})),
      watermark_floor_(kPartitions, 0),
      committed_floor_(kPartitions, -1),
      window_clock_off_ms_(kPartitions, 0) {
  for (int p = 0; p < kPartitions; ++p) disks_.push_back(std::make_unique<SimDisk>());
  windows_.resize(kPartitions);
  merges_.resize(kPartitions);
  replicas_.resize(kPartitions);
  held_.resize(kPartitions);
  set_fault_handler([this](std::string_view) {
    if (faults_ && one_in(random_, 400)) throw Crash{};
  });
}

World::~World() { set_fault_handler({}); }

std::unique_ptr<MemoryFilterStore> World::make_filters() {
  return std::make_unique<MemoryFilterStore>(filter::Policy{}, calendar_, clock_, kPartitions);
}

template <typename F>
bool World::survives(F step) {
  try {
    const auto result = step();
    INFO(result.status().message());
    REQUIRE(result.ok());
    return true;
  } catch (const Crash&) {
    ++tally_.crashes;
    return false;
  }
}

template <typename F>
bool World::survives_a_restore(F step, bool& outdated) {
  bool went_back = false;
  const bool survived = survives([&]() -> Result<bool> {
    auto stepped = step();
    went_back = outdated && !stepped.ok() && stepped.status().message().find("went back") != std::string::npos;
    return went_back ? Result<bool>(true) : std::move(stepped);
  });
  return survived && !went_back;
}

void World::start_ingest() {
  IngestTaskConfig config;
  config.ingest.partition_count = kPartitions;
  config.ingest.block_events = 16;
  config.ingest.linger_ms = 50;
  config.records_per_step = 64;
  config.in_flight_max = 32;
  ingest_ = std::make_unique<IngestTask>(config, std::make_unique<SimSink>(log_));
  assign_plays();
}

void World::assign_plays() {
  for (int32_t p = 0; p < kPlaysPartitions; ++p) {
    const Offset start(std::max<int64_t>(0, log_.committed("ingest", kPlays, PartitionId(p))));
    ingest_->add_source(kPlays, PartitionId(p), start,
                        std::make_unique<SimSource>(log_, "ingest", kPlays, PartitionId(p), start));
  }
}

void World::start_window(int32_t p) {
  const PartitionId partition(p);
  auto store = std::make_unique<SimWindowStore>(*disks_[p]);
  const int64_t log_end = static_cast<int64_t>(log_.partition(kEvents, partition).size());
  auto watermark = filters_->read_watermark(partition);
  if (watermark.code() == Code::kRetry) return;  // The store is away: tried again later.
  WindowStartFacts facts{*store->load(), *watermark, Offset(0), Offset(log_end)};
  auto start = decide_window_start(facts);
  INFO(start.status().message());
  REQUIRE(start.ok());
  if (!start->resume) {
    REQUIRE(store->clear().ok());
    ++tally_.wiped;
  }
  const bool restored = start->resume && !facts.local->hours.empty();
  const Offset base = start->resume ? facts.local->applied : start->base;
  if (!restored) blind_[p].insert(static_cast<size_t>(base.value));
  Ring ring = restored ? *Ring::restore(ring_, *facts.local) : Ring(ring_, base, start->first_hour);
  WindowTaskConfig config;
  config.window = {partition, kPartitions, ring_, {}, 0.5};
  config.window.drain.record_bytes = 256;
  config.window.drain.passes = 4;
  config.blocks_per_step = 8;
  config.in_flight_max = 8;
  config.flush_interval_ms = 7'000;
  windows_[p] =
      std::make_unique<WindowTask>(config, clock_, std::move(store), std::move(ring), *filters_,
                                   std::make_unique<SimSource>(log_, "window", kEvents, partition, start->read_from),
                                   std::make_unique<SimSink>(log_));
}

void World::start_merges() {
  for (int32_t p = 0; p < kPartitions; ++p) {
    const PartitionId partition(p);
    auto watermark = filters_->read_watermark(partition);
    if (!watermark.ok()) return;
    const int64_t committed = log_.committed("merge", kBatches, partition);
    const MergeStart start =
        decide_merge_start(committed < 0 ? std::nullopt : std::optional(Offset(committed)), Offset(0));
    MergeTaskConfig config;
    config.merge = {partition, kPartitions};
    config.records_per_step = 4;
    merges_[p] =
        std::make_unique<MergeTask>(config, calendar_, *filters_, *watermark,
                                    std::make_unique<SimSource>(log_, "merge", kBatches, partition, start.read_from),
                                    std::make_unique<SimSink>(log_));
  }
}

void World::start_replica(int32_t p) {
  const PartitionId partition(p);
  auto watermark = filters_->read_watermark(partition);
  if (!watermark.ok()) return;
  const MergedWatermark merged =
      watermark->value_or(MergedWatermark{.offset = Offset(0), .hour = HourIndex(-1), .ahead = {}});
  const auto& records = log_.partition(kEvents, partition);
  const int64_t oldest_ms = clock_.now_ms() - served().age_max_ms - calendar_.config().ahead_ms;
  const auto young =
      std::ranges::find_if(records, [&](const StoredRecord& record) { return record.log_time_ms >= oldest_ms; });
  const Offset read_from = std::min(merged.offset, Offset(young - records.begin()));
  note(replica_hours_[p], merged.offset, merged.hour.value + 1);
  held_[p] = std::make_shared<HeldPartition>(partition, RecentPlaysConfig{ring_.slot_ms, 1 << 20}, calendar_,
                                             merged.offset, served(), (merged.hour.value + 1) * ring_.slot_ms);
  ReplicaTaskConfig config;
  config.partition_count = kPartitions;
  config.lap_ms = ring_.slot_ms * ring_.slots;
  const Offset log_end(static_cast<int64_t>(records.size()));
  auto source = std::make_unique<SimSource>(log_, "serve", kEvents, partition, read_from);
  replicas_[p] = std::make_unique<ReplicaTask>(config, held_[p], *filters_, std::move(source), read_from, log_end);
}

void World::crash_ingest() { ingest_.reset(); }

void World::crash_window(int32_t p) {
  if (windows_[p]) {
    tally_.drains += windows_[p]->window().stats().drains[1];
    tally_.second_runs += windows_[p]->window().stats().drains[2];
    tally_.laps += windows_[p]->window().stats().drains[3];
  }
  windows_[p].reset();
  window_outdated_[p] = false;
  if (one_in(random_, 4)) {
    disks_[p]->lose();
    ++tally_.disks_lost;
  } else {
    disks_[p]->crash(random_);
  }
}

void World::crash_merges() {
  for (auto& merge : merges_) merge.reset();
  filters_->crash(random_);
}

void World::step_ingest() {
  if (!ingest_) start_ingest();
  if (!survives([&] { return ingest_->step(clock_.now_ms()); })) crash_ingest();
}

void World::step_window(int32_t p) {
  if (!windows_[p]) start_window(p);
  if (!windows_[p]) return;
  const auto step = [&] { return windows_[p]->step(clock_.now_ms() + window_clock_off_ms_[p]); };
  const bool survived = survives_a_restore(step, window_outdated_[p]);
  note_hours(p);
  if (!survived) crash_window(p);
}

// A wall clock that is ahead may end an hour early.
void World::note_hours(int32_t p) {
  for (const Ring::SlotView& slot : windows_[p]->window().ring().slots()) {
    for (const StagedHour& hour : slot.hours) note(hours_[p], hour.range.from, hour.hour.value);
  }
}

void World::note(ByOffset& facts, Offset from, int64_t at_least) {
  int64_t& noted = facts[static_cast<size_t>(from.value)];
  noted = std::max(noted, at_least);
}

void World::step_replica(int32_t p) {
  if (!replicas_[p]) start_replica(p);
  if (!replicas_[p]) return;
  if (!one_in(random_, 4)) {  // The brokers do not always answer.
    const Offset end(static_cast<int64_t>(log_.partition(kEvents, PartitionId(p)).size()));
    replicas_[p]->hear_log_end(end, clock_.now_ms());
  }
  if (!survives_a_restore([&] { return replicas_[p]->step(clock_.now_ms()); }, replica_outdated_[p])) crash_replica(p);
}

void World::crash_replica(int32_t p) {
  replicas_[p].reset();
  replica_hours_[p].clear();
  noted_[p].clear();
  replica_outdated_[p] = false;
  core_ = std::make_unique<CandidateFilter>(*filters_, calendar_, clock_, CandidateFilterConfig{});  // With its cache.
}

void World::step_merges() {
  for (auto& merge : merges_) {
    if (!merge) start_merges();
    if (!merge) return;
    if (survives([&] { return merge->step(clock_.now_ms()); })) continue;
    crash_merges();
    return;
  }
}

void World::step_all() {
  step_ingest();
  log_.pump();
  if (windows_paused_ > 0) --windows_paused_;
  for (int32_t p = 0; p < kPartitions && windows_paused_ == 0; ++p) step_window(p);
  for (int32_t p = 0; p < kPartitions; ++p) step_replica(p);
  log_.pump();
  if (merges_paused_ > 0) {
    --merges_paused_;
  } else {
    step_merges();
  }
}

// An event through a plays topic: mostly a play, a few serves and forgets.
void World::produce_one() {
  const uint64_t user = one_in(random_, 3) ? random_() % kUsers : random_() % 3;
  int64_t time = clock_.now_ms() - static_cast<int64_t>(random_() % 60'000);
  if (one_in(random_, 10)) time -= static_cast<int64_t>(random_() % (40LL * 24 * 3'600'000));   // Late.
  if (one_in(random_, 10)) time = clock_.now_ms() + static_cast<int64_t>(random_() % 600'000);  // Ahead.
  EventKind kind = EventKind::kPlay;
  if (one_in(random_, 12)) kind = one_in(random_, 6) ? EventKind::kForgetAll : EventKind::kForget;
  if (one_in(random_, 12)) kind = EventKind::kServe;
  constexpr std::string_view kNames[] = {"", "play", "serve", "forget", "forget_all"};
  const std::string item = item_name(random_() % kItems), scene = scene_of(user);
  const std::string json = R"({"event":")" + std::string(kNames[static_cast<size_t>(kind)]) + R"(","user":")" +
                           user_name(user) + R"(","item":")" + item + R"(","scene":")" + scene + R"(","time":)" +
                           std::to_string(time) + "}";
  // One that is ahead counts as the time at which ingest reads it: where a period turns in between, either will do.
  const PeriodIndex period = calendar_.period_of_ms(time);
  const ItemHash hash = kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(item);
  if (period == calendar_.period_of_ms(std::min(time, clock_.now_ms()))) {
    oracle_[std::string(UserKey(scene, user_name(user)).bytes())].insert({kind, period, hash});
  }
  const int copies = one_in(random_, 10) ? 2 : 1;
  for (int c = 0; c < copies; ++c)
    log_.append(kPlays, PartitionId(static_cast<int32_t>(random_() % kPlaysPartitions)), json);
  ++tally_.plays;
}

// A call of the query service: its events are durable in the log, and the replica that took it notes them at once.
void World::call() {
  const uint64_t user = random_() % 6;
  const UserKey key(scene_of(user), user_name(user));
  const PartitionId partition = partition_of(shard_of(key.bytes()), kPartitions);
  const auto p = static_cast<size_t>(partition.value);
  if (!replicas_[p] || replica_outdated_[p]) return;
  const EventKind kind = one_in(random_, 3)   ? EventKind::kServe
                         : one_in(random_, 4) ? EventKind::kForgetAll
                                              : EventKind::kForget;
  const ItemHash item = kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(item_name(random_() % kItems));
  const Event event{kind, item, clock_.now_ms()};
  const uint64_t hash = user_hash(key.bytes());
  EventBlockBuilder builder;
  builder.add(key.bytes(), hash, event);
  noted_[p].push_back(
      {static_cast<int64_t>(log_.partition(kEvents, partition).size()), std::string(key.bytes()), event});
  log_.append(kEvents, partition, builder.finish(partition, kPartitions));
  if (kind == EventKind::kServe)
    held_[p]->note_served(hash, item, event.time_ms);
  else
    held_[p]->note_forget(hash, event);
  ++tally_.calls;
}

void World::produce() {
  // A few busy users, the others quiet for long.
  const uint64_t events = one_in(random_, 3) ? 0 : random_() % 12;
  for (uint64_t i = 0; i < events; ++i) produce_one();
  if (one_in(random_, 10)) call();
  if (one_in(random_, 20)) {
    const std::string bad = R"({"user":"u","item":)" + std::to_string(random_() % 1000) + R"(,"time":"no time"})";
    log_.append(kPlays, PartitionId(0), bad);
    ++refused_[bad];
    ++tally_.refused;
  }
}

void World::pass_time() {
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
  if (one_in(random_, 80)) crash_window(static_cast<int32_t>(random_() % kPartitions));
  if (one_in(random_, 120)) crash_merges();
  if (one_in(random_, 200)) crash_replica(static_cast<int32_t>(random_() % kPartitions));
  if (one_in(random_, 300)) windows_paused_ = static_cast<int>(random_() % 200);
  if (one_in(random_, 300)) merges_paused_ = static_cast<int>(random_() % 300);  // More than a lap behind.
  if (one_in(random_, 100)) {
    filters_->fail_next(static_cast<int>(random_() % 60));
    ++tally_.store_outages;
  }
  if (one_in(random_, 400)) {
    filters_->fail_until_ms(clock_.now_ms() + static_cast<int64_t>(random_() % (2 * ring_.slots)) * ring_.slot_ms);
    ++tally_.long_outages;
  }
  if (one_in(random_, 200)) set_clock_off(random_() % kPartitions);
  if (one_in(random_, 300)) backup_ = filters_->backup();
  if (one_in(random_, 600)) restore_backup();
}

// The group takes the plays partitions away, in order or not, and the same member gets them back.
void World::rebalance_ingest() {
  if (!ingest_) return;
  const bool lost = one_in(random_, 2);
  if (!survives([&]() -> Result<bool> {
        ingest_->drop_sources(lost);
        return true;
      })) {
    return crash_ingest();
  }
  assign_plays();
  ++tally_.rebalances;
}

// The wall clock of a partition's window process is wrong by up to 500 hours of the ring, or right again.
void World::set_clock_off(size_t partition) {
  const int64_t hours = one_in(random_, 2) ? 0 : static_cast<int64_t>(random_() % 1000) - 500;
  window_clock_off_ms_[partition] = hours * ring_.slot_ms;
  ++tally_.clock_steps;
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

void World::live(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    produce();
    step_all();
    pass_time();
    strike();
    if (round % 50 == 0) check_watermarks();
    if (round % 5 == 0) check_queries(static_cast<int32_t>(random_() % kPartitions));
    check_custody();
  }
}

void World::settle() {
  faults_ = false;
  log_.trouble = 0;
  filters_->fail_next(0);
  filters_->fail_until_ms(0);
  windows_paused_ = merges_paused_ = 0;
  window_clock_off_ms_.assign(kPartitions, 0);
  // At most: everything is read, the hour is sealed, drained and merged; a slot that waits for its lap takes a lap
  // more.
  const int64_t hours = 3 * static_cast<int64_t>(ring_.slots) + 3;
  for (int64_t hour = 0; hour < hours; ++hour) {
    for (int i = 0; i < 100; ++i) {
      step_all();
      clock_.advance_ms(ring_.slot_ms / 100);
    }
  }
  check_watermarks();
  for (int32_t p = 0; p < kPartitions; ++p) {
    const auto watermark = filters_->read_watermark(PartitionId(p));
    REQUIRE(watermark.ok());
    const auto end = static_cast<int64_t>(log_.partition(kEvents, PartitionId(p)).size());
    CAPTURE(p, end);
    REQUIRE((end == 0 || (watermark->has_value() && (*watermark)->offset.value == end)));
  }
  check_all_in_log();
  check_all_in_filters();
  check_refused();
}

}  // namespace bloomring::simulation
