// A second view next to the filters: added by a file pair and two rows, driven by tasks over a log in memory, and run
// in a process on an embedded broker.
#include "pipeline/stages/view_row.h"

#include <catch2/catch.hpp>

#include "base/hash.h"
#include "filter/filter.h"
#include "operators/filters/filter_view.h"
#include "operators/filters/merge.h"
#include "pipeline/settings/keys/load_settings.h"
#include "pipeline/stages/process.h"
#include "pipeline/stages/topology.h"
#include "pipeline/stages/window_stage.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/topics/kafka_rights.h"
#include "tests/pipeline/kafka/kafka_world.h"
#include "tests/pipeline/stages/last_played_row.h"
#include "tests/pipeline/stages/last_played_view.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_log.h"
#include "tests/support/folder.h"
#include "tests/support/instrumented.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"

namespace bloomring {
namespace {

using kafka::testing::broker_with;
using kafka::testing::eventually;
using kafka::testing::must;
using simulation::SimSink;
using simulation::SimSource;
using testing::LastPlayed;

constexpr int64_t kSlotMs = 60'000;
constexpr int64_t kStartMs = 1'795'046'400'000;
const PartitionId kPartition(0);
const std::string kEvents = "user-events", kFilters = "user-batches", kPlayed = "last-played-batches";

// A window with both views and their merge tasks, of one partition over a log in memory.
class TwoViews {
 public:
  TwoViews() {
    log.trouble = 0;
    start();
    start_merges();
  }

  void start_merges() {
    merges_.clear();
    auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1, kSlotMs}, calendar_,
                                         filters.take_over(kPartition).value(),
                                         *filters.read_watermark(kPartition));
    merges_.push_back(merge_task(std::move(merge), kFilters));
    merges_.push_back(merge_task(testing::last_played_merge(played, kPartition, 1, kSlotMs), kPlayed));
  }

  // Begins the window again: from its disk, or without it. False, and no window, while it must wait for a store.
  bool start() {
    window_.reset();
    auto store = std::make_unique<simulation::SimWindowStore>(disk);
    const WindowStartFacts facts{*store->load(), std::nullopt, Offset(0), log.end(kEvents, kPartition)};
    const std::vector<ViewWatermark> watermarks{watermark_of("filters", filters), watermark_of("last-played", played)};
    const auto decided = decide_window_start(facts, watermarks);
    if (decided.code() == Code::kRetry) return false;
    const WindowStart start = must(decided);
    resumed = start.resume;
    WindowTaskConfig config;
    config.window = {kPartition, 1, {6, kSlotMs}, 0.5};
    Views views;
    views.push_back(std::make_unique<FilterView>(kPartition, 1, SlotDrainConfig{}));
    views.push_back(testing::last_played_view(kPartition, 1));
    Window window = must(Window::open(config.window, *store, std::move(views), start, facts.local));
    const std::vector<ViewLog> logs{{kFilters, &filters}, {kPlayed, &played}};
    window_ = std::make_unique<WindowTask>(
        config, clock_, std::move(store), std::move(window), logs,
        std::make_unique<SimSource>(log, "window", kEvents, kPartition, start.read_from),
        std::make_unique<SimSink>(log));
    return true;
  }
  void play(const std::string& user, const std::string& item) {
    const UserKey key("", user);
    EventBlockBuilder builder;
    builder.add(key.bytes(), {EventKind::kPlay, item_hash(item), clock_.now_ms()});
    log.append(kEvents, kPartition, builder.finish(kPartition, 1));
    expected[{std::string(key.bytes()), item_hash(item)}] = clock_.now_ms();
  }
  void run(int64_t seconds) {
    for (int64_t second = 0; second < seconds; ++second) {
      clock_.advance_ms(1'000);
      if (window_ || start()) REQUIRE(window_->step(clock_.now_ms()).ok());
      log.pump();
      for (auto& merge : merges_) REQUIRE(merge->step(clock_.now_ms()).ok());
    }
  }
  // Each view answers for every play.
  void check_all() {
    CHECK(played.times() == expected);
    for (const auto& [play, time_ms] : expected) {
      const auto& [user, item] = play;
      std::vector<StoredFilter> stored;
      REQUIRE(filters.read(user, calendar_.window(clock_.now_ms()), stored).ok());
      filter::Query query;
      for (const StoredFilter& one : stored) REQUIRE(query.add(one.value, one.store_key).ok());
      uint8_t found = filter::Query::kUnseen;
      query.run(std::span(&item, 1), user, std::span(&found, 1));
      REQUIRE(found != filter::Query::kUnseen);
    }
  }
  void set_filters_away(bool away) { filters.fail_until_ms(away ? INT64_MAX : 0); }
  bool fails_within(int64_t seconds) {
    for (int64_t second = 0; second < seconds; ++second) {
      clock_.advance_ms(1'000);
      if (window_->step(clock_.now_ms()).code() == Code::kFatal) return true;
    }
    return false;
  }
  int64_t merged(WatermarkReader& reader) { return must(reader.read_watermark(kPartition))->offset.value; }
  const Ring& ring() const { return window_->window().ring(); }

 private:
  static ViewWatermark watermark_of(std::string_view view, WatermarkReader& store) {
    auto read = store.read_watermark(kPartition);
    if (!read.ok()) return {view, std::nullopt, true};
    return {view, *read};
  }
  std::unique_ptr<MergeTask> merge_task(std::unique_ptr<ViewMerge> merge, const std::string& topic) {
    MergeTaskConfig config{.partition = kPartition, .batches_topic = topic};
    return std::make_unique<MergeTask>(config, std::move(merge),
                                       std::make_unique<SimSource>(log, topic, topic, kPartition, Offset(0)),
                                       std::make_unique<SimSink>(log));
  }

  ManualClock clock_{kStartMs};
  simulation::Random random_{1};
  Calendar calendar_ = must(Calendar::create({}));

 public:
  simulation::SimLog log{random_, clock_};
  MemoryFilterStore filters{filter::Policy{}, calendar_, clock_, 1};
  LastPlayed played;
  simulation::SimDisk disk;
  LastPlayed::Times expected;
  bool resumed = false;

 private:
  std::unique_ptr<WindowTask> window_;
  std::vector<std::unique_ptr<MergeTask>> merges_;
};

bool has(const std::vector<KafkaRight>& rights, KafkaResource resource, const std::string& name,
         const std::string& operation) {
  return std::ranges::any_of(rights, [&](const KafkaRight& right) {
    return right.resource == resource && right.name == name &&
           std::ranges::find(right.operations, operation) != right.operations.end();
  });
}

}  // namespace

TEST_CASE("views: a second one gets every play, and its watermark moves by itself") {
  TwoViews world;
  for (int i = 0; i < 5; ++i) {
    world.play("u" + std::to_string(i % 2), "v" + std::to_string(i % 3));
    world.run(kSlotMs / 1'000);
  }
  world.run(2 * kSlotMs / 1'000);
  CHECK(world.played.times() == world.expected);
  CHECK(world.merged(world.filters) == 5);
  CHECK(world.merged(world.played) == 5);
  CHECK(world.log.committed("window", kEvents, kPartition) == 5);
  CHECK(world.ring().unmerged_from() == Offset(5));
}

TEST_CASE("views: while the store of one is away the other goes on, hours and offsets wait, and then it has all") {
  TwoViews world;
  world.play("u1", "v1");
  world.run(2 * kSlotMs / 1'000);
  REQUIRE(world.log.committed("window", kEvents, kPartition) == 1);
  world.played.set_away(true);
  // Longer than a lap.
  for (int i = 0; i < 8; ++i) {
    world.play("u1", "w" + std::to_string(i));
    world.run(kSlotMs / 1'000);
  }
  world.run(kSlotMs / 1'000);
  CHECK(world.merged(world.filters) == 9);
  CHECK(world.log.committed("window", kEvents, kPartition) == 1);
  CHECK(world.ring().unmerged_from() == Offset(1));
  world.played.set_away(false);
  if (GENERATE(false, true)) {
    if (GENERATE(false, true)) world.disk.lose();
    const bool lost = !world.disk.current.state;
    world.start();
    CHECK(world.resumed != lost);
  }
  world.run(8 * kSlotMs / 1'000);
  CHECK(world.played.times() == world.expected);
  CHECK(world.merged(world.played) == 9);
  CHECK(world.log.committed("window", kEvents, kPartition) == 9);
}

TEST_CASE("views: a store that goes back while another view holds its hours is noticed at once, and gets them again") {
  TwoViews world;
  const auto before = world.filters.backup();
  world.play("u1", "v1");
  world.run(kSlotMs / 1'000);
  world.played.set_away(true);
  world.run(kSlotMs / 1'000);
  REQUIRE(world.merged(world.filters) == 1);
  REQUIRE(world.ring().unmerged_from() == Offset(0));
  world.filters.restore(before);
  CHECK(world.fails_within(2));
  world.played.set_away(false);
  world.start();
  world.start_merges();
  CHECK(world.resumed);
  world.run(8 * kSlotMs / 1'000);
  world.check_all();
  CHECK(world.merged(world.filters) == 1);
}

TEST_CASE("views: in random sequences of outages, restarts and lost disks each view gets every play") {
  for (int seed = 1; seed <= rounds(60); ++seed) {
    CAPTURE(seed);
    simulation::Random random(static_cast<uint64_t>(seed));
    TwoViews world;
    bool filters_away = false;
    for (int step = 0; step < 60; ++step) {
      switch (random() % 8) {
        case 0: world.played.set_away(!world.played.away()); break;
        case 1: world.set_filters_away(filters_away = !filters_away); break;
        case 2:
          if (simulation::one_in(random, 2)) world.disk.crash(random);
          world.start();
          break;
        case 3:
          world.disk.lose();
          world.start();
          break;
        default: world.play("u" + std::to_string(random() % 5), "v" + std::to_string(random() % 40)); break;
      }
      world.run(static_cast<int64_t>(random() % (kSlotMs / 1'000)));
    }
    world.played.set_away(false);
    world.set_filters_away(false);
    world.run(9 * kSlotMs / 1'000);
    world.check_all();
    const Offset end = world.log.end(kEvents, kPartition);
    REQUIRE(world.merged(world.filters) == end.value);
    REQUIRE(world.merged(world.played) == end.value);
    REQUIRE(world.log.committed("window", kEvents, kPartition) == end.value);
  }
}

TEST_CASE("views: one that is added to an installation gets the log from its beginning") {
  TwoViews world;
  world.play("u1", "v1");
  world.play("u1", "v2");
  // Local state of a program that had the filters alone.
  WindowState& local = world.disk.current.state.emplace();
  local.hours = {{HourIndex(kStartMs / kSlotMs), {Offset(0), Offset(1)}, 1, 100}};
  local.filling = local.hours[0].hour;
  local.applied = Offset(1);
  local.partition_count = 1;
  local.views = {{"filters", {}, {{}}}};
  world.start();
  CHECK_FALSE(world.resumed);
  world.run(3 * kSlotMs / 1'000);
  CHECK(world.played.times() == world.expected);
}

TEST_CASE("views: a second one is a file pair and a row, and runs in a process with the filters") {
  const auto broker = broker_with({{"plays", 1}, {"user-events", 4}, {"user-batches", 4}, {kPlayed, 4},
                                   {"plays-dead", 1}});
  static const std::array<ViewRow, 2> kViews{filter_view_row(), testing::last_played_row()};
  std::vector<StageRow> rows(topology().begin(), topology().end());
  for (StageRow& row : rows) {
    if (row.name != "window") continue;
    row = window_row(kViews);
    row.make = [](const StageContext& context) -> std::unique_ptr<Stage> {
      return std::make_unique<WindowStage>(context, kViews);
    };
  }
  rows.push_back(testing::last_played_stage());
  const testing::Folder folder;
  ConfigSources sources;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"kafka.bootstrap", broker->settings().bootstrap},
                                                                     {"stages", "ingest,window,merge,last-played"},
                                                                     {"topics.partitions", "4"},
                                                                     {"ring.slot_seconds", "1"},
                                                                     {"state.path", folder / "state"},
                                                                     {"store.path", folder / "store"},
                                                                     {"admin.listen", "127.0.0.1:0"}})
    sources.flags.push_back({key, value, "--" + key});
  Settings settings = must(load_settings(sources, rows)).settings;
  settings.kafka.properties = broker->settings().properties;
  settings.topics.names = TopicNames(testing::rows_with_last_played());
  // On a broker with rights, both stages may do what the second view needs.
  const StageRow& window = *stages_named(rows, {"window"}).front();
  CHECK(has(rights_of(window, settings), KafkaResource::kTopic, kPlayed, "Write"));
  CHECK(has(rights_of(window, settings), KafkaResource::kGroup, "bloomring-last-played", "Describe"));
  CHECK(has(rights_of(window, settings), KafkaResource::kGroup, "bloomring-merge", "Describe"));
  CHECK(has(rights_of(rows.back(), settings), KafkaResource::kTopic, kPlayed, "Read"));
  CHECK(has(rights_of(rows.back(), settings), KafkaResource::kGroup, "bloomring-last-played", "Read"));
  const SystemClock clock;
  Process process(settings, clock);
  must(process.start());
  REQUIRE(eventually([&] { return process.ready(); }));
  const auto producer = must(kafka::Producer::create(broker->settings()));
  const auto sink = producer->make_sink();
  LastPlayed::Times expected;
  for (int user = 0; user < 20; ++user) {
    const int64_t now_ms = clock.now_ms();
    OutRecord play = kafka::testing::record(
        "plays", 0, R"({"user":"u)" + std::to_string(user) + R"(","item":"v","time":)" + std::to_string(now_ms) + "}");
    must(sink->send(play, static_cast<uint64_t>(user)));
    expected[{std::string(UserKey("", "u" + std::to_string(user)).bytes()), item_hash("v")}] = now_ms;
  }
  CHECK(eventually([&] { return testing::last_played().times() == expected; }));
  process.stop();
}

}  // namespace bloomring
