// Offsets that no record has: the markers of transactions, aborted records, what compaction removed. Each stage passes
// them, in the middle of its log and at its end, and what is committed is committed beyond them.
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "operators/filters/merge.h"
#include "operators/window_start.h"
#include "pipeline/tasks/ingest_task.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/replica_task.h"
#include "pipeline/tasks/window_task.h"
#include "schemas/event_block.h"
#include "tests/pipeline/tasks/gap_log.h"
#include "tests/simulation/sim_disk.h"
#include "tests/support/filter_window.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"
#include "tests/support/sealed_slot_end.h"

namespace bloomring::testing {
namespace {

constexpr int64_t kStartMs = 1'795'000'000'000;
constexpr int64_t kSlotMs = 10'000;
const PartitionId kPartition(0);

// Takes everything, and has written it by the next step.
class QuickSink final : public Sink {
 public:
  explicit QuickSink(std::vector<OutRecord>& written) : written_(written) {}
  Status send(OutRecord& record, uint64_t ticket) override {
    written_.push_back(std::move(record));
    tickets_.push_back(ticket);
    return {};
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override {
    tickets = std::exchange(tickets_, {});
    return {};
  }

 private:
  std::vector<OutRecord>& written_;
  std::vector<uint64_t> tickets_;
};

std::string block(const std::string& item, int64_t time_ms) {
  EventBlockBuilder builder;
  const UserKey user("", "u1");
  builder.add(user.bytes(), {EventKind::kPlay, item_hash(item), time_ms});
  return builder.finish(kPartition, 1);
}

struct World {
  ManualClock clock{kStartMs};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
  simulation::SimDisk disk;
  GapLog log;
  std::vector<OutRecord> written;

  std::unique_ptr<QuickSink> sink() { return std::make_unique<QuickSink>(written); }
  std::unique_ptr<GapSource> source(Offset start) { return std::make_unique<GapSource>(log, start); }
  WindowTask window(Offset base = Offset(0), HourIndex first_hour = HourIndex(0)) {
    auto store = std::make_unique<simulation::SimWindowStore>(disk);
    WindowTaskConfig config;
    config.window = {kPartition, 1, {3, kSlotMs}, 0.5};
    WindowStart start;
    start.base = base;
    start.first_hour = first_hour;
    start.merged_below = first_hour.value > 0;
    Window window = testing::filter_window(config.window, *store, start);
    return WindowTask(config, clock, std::move(store), std::move(window), testing::filter_log(filters), source(base),
                      sink());
  }
  // Steps until the window has committed something behind `committed`; what it drains is merged at once.
  void merge_until_committed(WindowTask& task, int64_t committed) {
    for (int i = 0; i < 40 && log.committed <= committed; ++i) {
      step(task);
      for (const OutRecord& record : written) {
        auto decoded = *decode_batch_record(record.value, kPartition, 1);
        if (const auto* end = std::get_if<SlotEnd>(&decoded)) {
          MergedWatermark moved = filters.read_watermark(kPartition)->value_or(MergedWatermark{});
          for (const DrainedHour& drained : end->hours) moved.add(drained.range, drained.hour);
          REQUIRE(filters.advance(kPartition, moved).ok());
        }
      }
    }
  }
  void step(Task& task, int times = 1) {
    for (int i = 0; i < times; ++i) {
      clock.advance_ms(1'000);
      REQUIRE(task.step(clock.now_ms()).ok());
    }
  }
};

}  // namespace

TEST_CASE("gaps: ingest commits what lies behind its last record, and nothing before its plays are acknowledged") {
  World world;
  const std::string play = R"({"user":"u1","item":"v1","time":)" + std::to_string(kStartMs) + "}";
  world.log.add_gap(2);
  world.log.add(play, kStartMs);
  world.log.add_gap(3);
  IngestTaskConfig config;
  config.ingest.linger_ms = 1'500;
  IngestTask task(config, world.clock, world.sink());
  task.add_source("plays", kPartition, Offset(0), world.source(Offset(0)));
  world.step(task);
  CHECK(world.log.committed == 2);  // The play is not sent yet.
  world.step(task, 3);
  CHECK(world.log.committed == 6);
  CHECK(task.sources()[0].next == Offset(6));
  world.log.add_gap(2);  // An aborted transaction, later.
  world.step(task, 2);
  CHECK(world.log.committed == 8);
}

TEST_CASE("gaps: a window's slot covers them, so that its watermark and its commit come to the end of the log") {
  World world;
  world.log.add_gap();
  world.log.add(block("a", kStartMs), kStartMs);
  world.log.add_gap(2);
  world.log.add(block("b", kStartMs), kStartMs);
  world.log.add_gap(2);
  WindowTask task = world.window();
  world.step(task);
  CHECK(task.position() == Offset(7));
  world.merge_until_committed(task, -1);
  CHECK(world.log.committed == 7);
  // Retention removes all of it, down to the last offset: nothing is lost.
  WindowStartFacts facts{world.disk.current.state, *world.filters.read_watermark(kPartition), Offset(7), Offset(7)};
  CHECK(decide_window_start(facts).ok());
  facts.local.reset();
  CHECK(decide_window_start(facts).ok());
}

TEST_CASE("gaps: a window without its disk that finds nothing else waits, and its next hour covers them") {
  World world;
  world.log.add(block("a", kStartMs), kStartMs);
  world.log.add_gap(2);
  const HourIndex hour(kStartMs / kSlotMs);
  REQUIRE(world.filters.advance(kPartition, {.offset = Offset(1), .hour = hour, .ahead = {}}).ok());
  WindowTask task = world.window(Offset(1), HourIndex(hour.value + 1));
  world.step(task, 40);
  CHECK(task.position() == Offset(3));
  CHECK(world.log.committed == 1);
  CHECK(world.written.empty());
  world.log.add(block("b", world.clock.now_ms()), world.clock.now_ms());
  world.merge_until_committed(task, 1);
  CHECK(world.log.committed == 4);
}

TEST_CASE("gaps: merge commits them behind a slot end, and not behind a batch that waits for its slot end") {
  World world;
  const DrainHeader header{kPartition, 1, {Offset(0), Offset(5)}, DrainAttempt::kFirst};
  UserBatchBuilder builder;
  const std::vector<DrainedPlay> plays{DrainedPlay::at(kStartMs, item_hash("a"))};
  builder.add(UserKey("", "u1").bytes(), {}, plays);
  const std::string batch = builder.finish(header);
  const std::string end = testing::sealed_slot_end(header, {{HourIndex(1), header.range}}, {batch});
  world.log.add_gap(2);
  world.log.add(batch, kStartMs);
  world.log.add_gap(1);
  auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1}, world.calendar,
                                       world.filters.take_over(kPartition).value(), std::nullopt);
  MergeTask task({.partition = kPartition}, std::move(merge), world.source(Offset(2)), world.sink());
  world.step(task, 2);
  CHECK(task.applied() == Offset(4));
  CHECK(world.log.committed == -1);
  world.log.add(end, kStartMs);
  world.log.add_gap(2);
  world.step(task, 2);
  CHECK(world.log.committed == 7);
  CHECK(world.filters.read_watermark(kPartition)->value().offset == Offset(5));
}

TEST_CASE("gaps: a replica whose log ends with them is at its end, and fresh") {
  World world;
  world.log.add(block("a", kStartMs), kStartMs);
  world.log.add_gap(2);
  auto held = std::make_shared<ReplicaPartition>(kPartition, RecentPlaysConfig{3'600'000, 1 << 20}, world.calendar,
                                              Offset(0));
  ReplicaTask task({}, world.clock, held, world.filters, world.source(Offset(0)), Offset(0), Offset(3));
  task.update_log_end(Offset(3), (kStartMs + 60'000) * 1'000'000);
  world.step(task);
  CHECK(held->ready());
  CHECK(held->lag_ms((kStartMs + 60'000) * 1'000'000) == 0);
}

TEST_CASE("gaps: a record without key and value, as compacted topics have them, is refused and passed") {
  World world;
  world.log.add("", kStartMs);
  const IngestTaskConfig config;
  IngestTask task(config, world.clock, world.sink());
  task.add_source("plays", kPartition, Offset(0), world.source(Offset(0)));
  world.step(task, 3);
  CHECK(world.log.committed == 1);
  CHECK(task.ingest().stats().refused_in_all() == 1);
}

}  // namespace bloomring::testing
