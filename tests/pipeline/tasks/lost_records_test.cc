// Records that retention has removed before the window stage read them, some merged ahead by a life whose disk went
// back: the stage goes on behind them, nothing that is merged becomes unseen, and later hours end with the log.
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "operators/filters/merge.h"
#include "operators/window_start.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/window_task.h"
#include "schemas/event_block.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_log.h"
#include "tests/support/filter_window.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kSlotMs = 10'000;
constexpr int64_t kStartMs = 1'795'000'000'000;
const std::string kEvents = "user-events";
const std::string kBatches = "user-batches";
const PartitionId kPartition(0);
const UserKey kUser("", "u1");

struct World {
  Random random{1};
  ManualClock clock{kStartMs};
  SimLog log{random, clock};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
  SimDisk disk;
  const RingConfig ring{6, kSlotMs};

  World() { log.trouble = 0; }

  void append(const Event& event) {
    EventBlockBuilder builder;
    builder.add(kUser.bytes(), event);
    log.append(kEvents, kPartition, builder.finish(kPartition, 1));
  }
  std::unique_ptr<SimSource> source(const std::string& group, const std::string& topic, Offset from) {
    return std::make_unique<SimSource>(log, group, topic, kPartition, from);
  }
  // As the window stage does, with state.accept_lost_events.
  WindowTask window() {
    auto store = std::make_unique<SimWindowStore>(disk);
    const WindowStartFacts facts{*store->load(), *filters.read_watermark(kPartition), log.start(kEvents, kPartition),
                                 log.end(kEvents, kPartition), true};
    const WindowStart start = *decide_window_start(facts);
    REQUIRE((start.resume && start.lost));
    WindowTaskConfig config;
    config.window = {kPartition, 1, ring, 0.5};
    Window restored = testing::filter_window(config.window, *store, start, facts.local);
    return WindowTask(config, clock, std::move(store), std::move(restored), testing::filter_log(filters),
                      source("window", kEvents, start.read_from), std::make_unique<SimSink>(log));
  }
  MergeTask merge() {
    MergeTaskConfig config;
    config.partition = kPartition;
    auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1, kSlotMs}, calendar,
                                         filters.take_over(kPartition).value(), *filters.read_watermark(kPartition));
    return MergeTask(config, std::move(merge), source("merge", kBatches, Offset(0)), std::make_unique<SimSink>(log));
  }
  // The disk knows offset 0 alone.
  void stage_first_record() {
    Ring before(ring, Offset(0));
    before.admit(Offset(0), kStartMs, {.events = 0});
    WindowState local = before.state(1);
    local.views[0].name = "filters";
    FilterNotes().save(local.hours, local.views[0]);
    disk.current.state = local;
  }
  bool in_filter(const std::string& item) {
    std::vector<StoredFilter> stored;
    REQUIRE(filters.read(kUser.bytes(), calendar.window(clock.now_ms()), stored).ok());
    filter::Query query;
    for (const StoredFilter& one : stored) REQUIRE(query.add(one.value, one.store_key).ok());
    const ItemHash hash = item_hash(item);
    uint8_t found = filter::Query::kUnseen;
    query.run(std::span(&hash, 1), kUser.bytes(), std::span(&found, 1));
    return found != filter::Query::kUnseen;
  }
};

}  // namespace

TEST_CASE("lost records: what was merged of them stays seen when the user forgets what came before it") {
  World world;
  const HourIndex hour(kStartMs / kSlotMs);
  world.stage_first_record();
  // Offset 2 is merged ahead of 1, which has left the log with it.
  for (const std::string item : {"a", "b", "c"}) world.append({EventKind::kPlay, item_hash(item), kStartMs + 12'000});
  const ItemHash merged = item_hash("c");
  const PeriodIndex period = world.calendar.period_of_ms(kStartMs + 12'000);
  REQUIRE(world.filters.apply({}, std::vector<FilterUpdate>{{kUser.bytes(), period, std::span(&merged, 1)}}).ok());
  const MergedWatermark ahead{.offset = Offset(0), .hour = hour, .ahead = {{Offset(2), Offset(3)}}};
  REQUIRE(world.filters.advance(kPartition, ahead).ok());
  world.log.start(kEvents, kPartition) = Offset(3);
  world.clock.advance_ms(20'000);
  world.append({EventKind::kForgetAll, ItemHash(0), kStartMs + 5'000});

  WindowTask window = world.window();
  MergeTask merge = world.merge();
  for (int step = 0; step < 60; ++step) {
    world.clock.advance_ms(1'000);
    REQUIRE(window.step(world.clock.now_ms()).ok());
    world.log.pump();
    REQUIRE(merge.step(world.clock.now_ms()).ok());
  }
  REQUIRE(world.filters.read_watermark(kPartition)->value().offset == Offset(4));
  CHECK(world.in_filter("c"));
}

TEST_CASE("lost records: the hour in which they were lost ends early, and every later one when the log says so") {
  World world;
  world.stage_first_record();
  const auto play_at = [&](int64_t ms) {
    world.clock.advance_ms(kStartMs + ms - world.clock.now_ms());
    world.append({EventKind::kPlay, item_hash("a"), kStartMs + ms});
  };
  play_at(0);
  play_at(1'000);
  play_at(2'000);
  world.log.start(kEvents, kPartition) = Offset(2);
  const MergedWatermark merged{.offset = Offset(0), .hour = HourIndex(kStartMs / kSlotMs - 1), .ahead = {}};
  REQUIRE(world.filters.advance(kPartition, merged).ok());
  WindowTask window = world.window();
  const auto filling_ends_at = [&](int64_t ms) {
    world.clock.advance_ms(kStartMs + ms - world.clock.now_ms());
    REQUIRE(window.step(world.clock.now_ms()).ok());
    return window.window().ring().filling_end_ms() - kStartMs;
  };
  CHECK(filling_ends_at(2'500) == 20'000);
  play_at(12'000);
  CHECK(filling_ends_at(19'900) == 20'000);
  CHECK(filling_ends_at(20'100) == 30'000);
}

}  // namespace bloomring::simulation
