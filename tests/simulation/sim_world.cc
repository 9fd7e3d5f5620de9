#include "tests/simulation/sim_world.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/faults/fault_point.h"
#include "base/hash.h"
#include "filter/filter.h"
#include "operators/filters/merge.h"
#include "operators/replica_start.h"
#include "operators/window_start.h"
#include "schemas/event_block.h"
#include "tests/support/filter_window.h"

namespace bloomring::simulation {

namespace {

constexpr int64_t kStartMs = 1'793'404'800'000;  // 2026-10-31T00:00:00Z: a month turn is near.
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

}  // namespace

World::World(uint64_t seed)
    : random_(seed),
      clock_(kStartMs + static_cast<int64_t>(seed % 48) * 3'600'000),
      calendar_(make_calendar()),
      log_(random_, broker_clock_, clock_),
      bursts_(one_in(random_, 4)),
      logs_replaced_(seed % 3 == 0),
      forger_(seed % 2 == 1),
      leaders_go_(seed % 2 == 0),
      logs_cut_(!logs_replaced_ && seed / 3 % 5 == 0),
      logs_expire_(!logs_replaced_ && seed / 3 % 5 == 1),
      replays_(seed / 2 % 4 == 1),
      settings_change_(seed / 15 % 3 == 0),
      limits_(seed / 4 % 2 == 0),
      settings_(first_settings(seed, limits_)),
      ring_{settings_.ring_slots, 10'000},
      filters_(make_filters()),
      core_(std::make_unique<CandidateFilter>(*filters_, calendar_, serve_clock_, CandidateFilterConfig{})),
      watermark_floor_(kPartitions, 0),
      committed_floor_(kPartitions, -1),
      window_clock_off_ms_(kPartitions, 0),
      clocks_go_wrong_(one_in(random_, 2)) {
  std::ranges::fill(clock_wrong_from_, clocks_go_wrong_ ? 0 : SIZE_MAX);
  if (clocks_go_wrong_ && seed / 7 % 3 == 0) {
    log_.ahead_topic = kEvents;
    log_.ahead_max_ms = ring_.slot_ms;
  }
  if (limits_)
    log_.record_bytes_max = {{kEvents, 2 * kRecordBytes}, {kBatches, 2 * kRecordBytes}, {kDead, 1'000'000}};
  for (int p = 0; p < kPartitions; ++p) disks_.push_back(std::make_unique<SimDisk>());
  windows_.resize(kPartitions);
  merges_.resize(kPartitions);
  replicas_.resize(kPartitions);
  held_.resize(kPartitions);
  std::ranges::fill(ring_slots_, ring_.slots);
  served_.resize(kPartitions, {settings_.served_per_user_max, 3 * ring_.slots * ring_.slot_ms});
  set_fault_handler([this](std::string_view) {
    if (faults_ && one_in(random_, 400)) throw Crash{};
  });
}

World::~World() { set_fault_handler({}); }

std::unique_ptr<MemoryFilterStore> World::make_filters() {
  return std::make_unique<MemoryFilterStore>(settings_.filter, calendar_, merge_clock_, kPartitions);
}

SimSettings World::settings_of_start() {
  if (!settings_change_ || one_in(random_, 3)) return settings_;
  ++tally_.settings_changed;
  return changed_settings(settings_, limits_, random_);
}

bool World::survives(const std::function<Result<bool>()>& step) {
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

bool World::survives_a_restore(const std::function<Result<bool>()>& step, bool& outdated) {
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
  config.ingest = settings_of_start().ingest;
  config.ingest.partition_count = kPartitions;
  config.records_per_step = 64;
  config.in_flight_max = 32;
  config.lane_in_flight_max = 4;
  config.lane_patience_ms = 500;
  config.clock_skew_max_ms = 3 * kClocksOffMaxMs;
  ingest_ = std::make_unique<IngestTask>(config, clock_, std::make_unique<SimSink>(log_));
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
  auto watermark = filters_->read_watermark(partition);
  if (watermark.code() == Code::kRetry) return;  // The store is away: tried again later.
  WindowStartFacts facts{*store->load(), *watermark, log_.start(kEvents, partition), log_.end(kEvents, partition)};
  auto start = decide_window_start(facts);
  const bool refused = start.code() == Code::kFatal;
  if (refused) {
    facts.accept_lost_events = true;
    start = decide_window_start(facts);
  }
  INFO(start.status().message());
  REQUIRE(start.ok());
  const size_t lost = lose_unmerged(p, facts, start->resume);
  CAPTURE(p, lost, refused);
  REQUIRE((lost == 0 || refused || !facts.watermark));  // Where nothing was ever merged, nothing was promised.
  tally_.wiped += !start->resume;
  const bool restored = start->resume && !facts.local->hours.empty();
  if (!restored || start->lost) note_blind(p, watermark->value_or(MergedWatermark{}).offset);
  const SimSettings settings = settings_of_start();
  const RingConfig ring_config{settings.ring_slots, ring_.slot_ms};
  tally_.rings_resized += restored && ring_slots_[p] != settings.ring_slots;
  ring_slots_[p] = settings.ring_slots;
  WindowTaskConfig config;
  config.window = {partition, kPartitions, ring_config, settings.drain_spread};
  config.blocks_per_step = 8;
  config.in_flight_max = 8;
  config.flush_interval_ms = settings.flush_interval_ms;
  Window window = testing::filter_window(config.window, *store, *start, facts.local, settings.drain);
  windows_[p] =
      std::make_unique<WindowTask>(config, clock_, std::move(store), std::move(window), testing::filter_log(*filters_),
                                   std::make_unique<SimSource>(log_, "window", kEvents, partition, start->read_from),
                                   std::make_unique<SimSink>(log_));
}

MergeStart World::merge_start(int32_t p) {
  const PartitionId partition(p);
  const int64_t committed = log_.committed("merge", kBatches, partition);
  const std::optional<Offset> group = committed < 0 ? std::nullopt : std::optional(Offset(committed));
  return decide_merge_start({group, log_.start(kBatches, partition), log_.end(kBatches, partition)});
}

// In a third of the seeds operations of the store take up to nine steps, as those over a network.
std::unique_ptr<PartitionWriter> World::take_over(int32_t p) {
  auto writer = filters_->take_over(PartitionId(p)).value();
  if (!store_far_) return writer;
  return std::make_unique<DelayedWriter>(std::move(writer), [this] { return random_() % 10; });
}

void World::start_merges() {
  const filter::Policy policy = settings_of_start().filter;
  filters_->reopen(policy);
  false_positive_rate_max_ = std::max(false_positive_rate_max_, policy.false_positive_rate);
  for (int32_t p = 0; p < kPartitions; ++p) {
    const PartitionId partition(p);
    auto watermark = filters_->read_watermark(partition);
    if (!watermark.ok()) return;
    const MergeStart start = merge_start(p);
    const int64_t committed = log_.committed("merge", kBatches, partition);
    tally_.batches_lost += committed >= 0 && committed < start.read_from.value;
    MergeTaskConfig config;
    config.partition = partition;
    config.records_per_step = 4;
    auto merge = std::make_unique<Merge>(MergeConfig{partition, kPartitions, ring_.slot_ms}, calendar_, take_over(p),
                                         *watermark);
    merges_[p] =
        std::make_unique<MergeTask>(config, std::move(merge),
                                    std::make_unique<SimSource>(log_, "merge", kBatches, partition, start.read_from),
                                    std::make_unique<SimSink>(log_));
  }
}

// As pipeline/stages/serve/serve_partitions.cc does: from the log's start while the store is away.
void World::start_replica(int32_t p) {
  const PartitionId partition(p);
  const auto read = filters_->read_watermark(partition);
  const std::optional<MergedWatermark> watermark = read.ok() ? *read : MergedWatermark{};
  const auto& records = log_.partition(kEvents, partition);
  const SimSettings settings = settings_of_start();
  served_[p].per_user_max = settings.served_per_user_max;
  const int64_t age_max_ms = served_[p].age_max_ms + calendar_.config().ahead_ms;
  const int64_t oldest_ms = served_since_ms(watermark, ring_.slot_ms, serve_clock_.now_ms(), age_max_ms);
  const auto young =
      std::ranges::find_if(records, [&](const StoredRecord& record) { return record.log_time_ms >= oldest_ms; });
  const Offset log_end = log_.end(kEvents, partition);
  const auto start = decide_replica_start(
      {{watermark, log_.start(kEvents, partition), log_end}, Offset(young - records.begin())});
  REQUIRE(start.ok());
  const int64_t log_floor_ms = start->first_hour.value * ring_.slot_ms;
  note(replica_hours_[p], start->merged, start->first_hour.value);
  if (start->lost_below > Offset(0)) replica_blind_[p].insert(static_cast<size_t>(start->merged.value));
  const RecentPlaysConfig recents{ring_.slot_ms, settings.recents_bytes_max};
  held_[p] =
      std::make_shared<ReplicaPartition>(partition, recents, calendar_, start->merged, served_[p], log_floor_ms);
  held_[p]->set_lost_below(start->lost_below);
  ReplicaTaskConfig config;
  config.partition_count = kPartitions;
  config.lap_ms = ring_.slot_ms * settings.ring_slots;
  auto source = std::make_unique<SimSource>(log_, "serve", kEvents, partition, start->read_from);
  replicas_[p] = std::make_unique<ReplicaTask>(config, clock_, held_[p], *filters_, std::move(source),
                                               start->read_from, log_end);
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

// After it stood still, its group may have given its partitions to another member.
void World::step_ingest() {
  if (ingest_stalled_ > 0) {
    if (--ingest_stalled_ == 0 && one_in(random_, 2)) rebalance_ingest();
    return;
  }
  if (!ingest_) start_ingest();
  ledger_.ingest_stepped(clock_.now_ms());
  if (!survives([&] { return ingest_->step(ingest_clock_.now_ms()); })) return crash_ingest();
  tally_.passed_over += !ingest_->passed_over().empty();
  tally_.paused += ingest_->clock().state() == IngestClock::State::kOff;
}

void World::step_window(int32_t p) {
  if (!windows_[p]) start_window(p);
  if (!windows_[p]) return;
  const auto step = [&] { return windows_[p]->step(clock_.now_ms() + window_clock_off_ms_[p]); };
  const bool survived = survives_a_restore(step, window_outdated_[p]);
  if (!survived) crash_window(p);
}

void World::note(ByOffset& facts, Offset from, int64_t at_least) {
  int64_t& noted = facts[static_cast<size_t>(from.value)];
  noted = std::max(noted, at_least);
}

void World::step_replica(int32_t p) {
  if (!replicas_[p]) start_replica(p);
  if (!replicas_[p]) return;
  if (replica_stalled_[p] > 0) {
    --replica_stalled_[p];
    return;
  }
  if (!one_in(random_, 4)) {  // The brokers do not always answer.
    const Offset end(static_cast<int64_t>(log_.partition(kEvents, PartitionId(p)).size()));
    replicas_[p]->update_log_end(end, clock_.steady_ns());
  }
  const auto step = [&] { return replicas_[p]->step(serve_clock_.now_ms()); };
  if (!survives_a_restore(step, replica_outdated_[p])) crash_replica(p);
}

void World::crash_replica(int32_t p) {
  replicas_[p].reset();
  replica_hours_[p].clear();
  replica_blind_[p].clear();
  noted_[p].clear();
  replica_outdated_[p] = false;
  // With its cache.
  core_ = std::make_unique<CandidateFilter>(*filters_, calendar_, serve_clock_, CandidateFilterConfig{});
}

// A thread asks a far store again and again in the time of a round.
void World::step_merges() {
  const int times = store_far_ ? 40 : 1;
  for (auto& merge : merges_) {
    if (!merge) start_merges();
    if (!merge) return;
    for (int i = 0; i < times; ++i) {
      if (survives([&] { return merge->step(merge_clock_.now_ms()); })) continue;
      crash_merges();
      return;
    }
  }
}

void World::step_all() {
  step_ingest();
  step_replay();
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

void World::live(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    produce();
    step_all();
    read_new_records();
    advance_clock();
    strike();
    if (round % 50 == 0) check_watermarks();
    if (round % 5 == 0) check_queries(static_cast<int32_t>(random_() % kPartitions));
    check_custody();
    check_ingest_commits();
    check_drain_order();
  }
}

bool World::all_ingested() {
  if (replay_) return false;
  for (int32_t p = 0; p < kPlaysPartitions; ++p) {
    if (log_.committed("ingest", kPlays, PartitionId(p)) < log_.end(kPlays, PartitionId(p)).value) return false;
  }
  return true;
}

void World::settle() {
  faults_ = false;
  log_.trouble = 0;
  log_.leaderless.clear();
  filters_->fail_next(0);
  filters_->fail_until_ms(0);
  ingest_stalled_ = windows_paused_ = merges_paused_ = 0;
  std::ranges::fill(replica_stalled_, 0);
  window_clock_off_ms_.assign(kPartitions, 0);
  for (SimClock* clock : {&ingest_clock_, &broker_clock_, &merge_clock_, &serve_clock_, &caller_clock_})
    clock->set_off_ms(0);
  const auto pass_hour = [this] {
    for (int i = 0; i < 100; ++i) {
      step_all();
      clock_.advance_ms(ring_.slot_ms / 100);
    }
  };
  // With small blocks that linger, what ingest has not read yet takes its time.
  for (int64_t hour = 0; hour < 200 && !all_ingested(); ++hour) pass_hour();
  // At most: everything is read, the hour is sealed, drained and merged; a slot that waits for its lap takes a lap
  // more.
  settings_change_ = false;
  const int64_t hours = 3 * static_cast<int64_t>(*std::ranges::max_element(ring_slots_)) + 3;
  for (int64_t hour = 0; hour < hours; ++hour) pass_hour();
  read_new_records();
  check_ingest_commits();
  check_drain_order();
  check_watermarks();
  for (int32_t p = 0; p < kPartitions; ++p) {
    const auto watermark = filters_->read_watermark(PartitionId(p));
    REQUIRE(watermark.ok());
    const auto& records = log_.partition(kEvents, PartitionId(p));
    auto end = static_cast<int64_t>(records.size());
    // A window stage that has read no record since it began has no hour that offsets without a record could be in.
    while (end > 0 && records[static_cast<size_t>(end) - 1].gap) --end;
    CAPTURE(p, end);
    REQUIRE((end == 0 || (watermark->has_value() && (*watermark)->offset.value >= end)));
  }
  check_all_in_log();
  check_all_in_filters();
  check_refused();
}

}  // namespace bloomring::simulation
