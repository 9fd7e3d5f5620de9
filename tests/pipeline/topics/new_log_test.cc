// The effect of `bloomring store new-log` on user-batches: a log that was made again begins at offset 0 again, and what
// still stands there speaks of the offsets of the old one.
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "operators/filters/merge.h"
#include "operators/merge_start.h"
#include "pipeline/tasks/merge_task.h"
#include "pipeline/tasks/unread_batches.h"
#include "schemas/store_key.h"
#include "schemas/user_batch.h"
#include "tests/simulation/sim_log.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"
#include "tests/support/sealed_slot_end.h"

namespace bloomring::simulation {
namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;  // 2026-11-18.
constexpr int64_t kSlotMs = 3'600'000;
const PartitionId kPartition(0);
const UserKey kUser("", "u1");
const std::string kBatches = "user-batches";

DrainHeader header(int64_t from, int64_t to) {
  return {kPartition, 1, {Offset(from), Offset(to)}, DrainAttempt::kFirst};
}

struct World {
  Random random{1};
  ManualClock clock{kNowMs};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore filters{filter::Policy{}, calendar, clock, 1};
  SimLog log{random, clock};

  World() { log.trouble = 0; }

  void drain(const std::string& item, int64_t from, int64_t to, bool with_end = true) {
    UserBatchBuilder builder;
    const DrainedPlay play = DrainedPlay::at(kNowMs - 1'000, item_hash(item));
    builder.add(kUser.bytes(), {}, std::span(&play, 1));
    const std::string batch = builder.finish(header(from, to));
    log.append(kBatches, kPartition, batch);
    const HourIndex hour(kNowMs / kSlotMs);
    if (with_end)
      log.append(kBatches, kPartition,
                 testing::sealed_slot_end(header(from, to), {{hour, {Offset(from), Offset(to)}}}, {batch}));
  }
  MergeStart merge_start() {
    const int64_t committed = log.committed("merge", kBatches, kPartition);
    const std::optional<Offset> group = committed < 0 ? std::nullopt : std::optional(Offset(committed));
    return decide_merge_start({group, log.start(kBatches, kPartition), log.end(kBatches, kPartition)});
  }
  std::unique_ptr<SimSource> source() {
    return std::make_unique<SimSource>(log, "merge", kBatches, kPartition, merge_start().read_from);
  }
  void merge() {
    MergeTaskConfig config;
    config.partition = kPartition;
    auto merge = std::make_unique<Merge>(MergeConfig{kPartition, 1, kSlotMs}, calendar,
                                         filters.take_over(kPartition).value(), *filters.read_watermark(kPartition));
    MergeTask task(config, std::move(merge), source(), std::make_unique<SimSink>(log));
    while (*task.step(kNowMs)) {
    }
  }
  Result<uint64_t> merge_unread() {
    UnreadBatches unread({kPartition, 1, kSlotMs}, calendar, filters.take_over(kPartition).value(),
                         *filters.read_watermark(kPartition), source(), log.end(kBatches, kPartition));
    while (!unread.done()) BLOOMRING_TRY(unread.step(kNowMs).status());
    log.start(kBatches, kPartition) = unread.read_to();
    return unread.refused();
  }
  void begin_new_log() {
    MemoryFilterStore::Rows rows = filters.backup();
    rows[watermark_key(kPartition)] =
        encode_watermark(of_new_log(*filters.read_watermark(kPartition)), kPartition, 1);
    filters.restore(std::move(rows));
  }
  std::optional<Offset> merged_below() {
    const auto watermark = *filters.read_watermark(kPartition);
    return watermark ? std::optional(watermark->offset) : std::nullopt;
  }
  uint64_t items() {
    const PeriodIndex period = calendar.period_of_ms(kNowMs);
    std::vector<StoredFilter> out;
    REQUIRE(filters.read(kUser.bytes(), std::span(&period, 1), out).ok());
    return out.empty() ? 0 : filter::summarize(out[0].value, out[0].store_key)->items;
  }
};

}  // namespace

TEST_CASE("new log: what stands unread of the old log is merged, and moves no watermark of the new one") {
  World world;
  world.drain("a", 0, 10);
  world.merge();
  world.drain("b", 10, 20);
  REQUIRE(world.merge_unread().ok());
  world.begin_new_log();
  world.merge();
  CHECK(world.merged_below() == Offset(0));
  CHECK((*world.filters.read_watermark(kPartition))->ahead.empty());
  CHECK(world.items() == 2);
  world.drain("c", 0, 3);
  world.merge();
  CHECK(world.merged_below() == Offset(3));
  CHECK(world.items() == 3);
}

TEST_CASE("new log: slot ends of the old log that were read once are not read again where the group's commit is lost") {
  World world;
  world.drain("a", 0, 10);
  world.merge();
  REQUIRE(world.merge_unread().ok());
  world.begin_new_log();
  world.log.committed("merge", kBatches, kPartition) = -1;
  world.merge();
  CHECK(world.merged_below() == Offset(0));
}

TEST_CASE("new log: batches without a slot end, offsets without a record and records that are no batches end nothing") {
  World world;
  world.log.append(kBatches, kPartition, "no batch");
  world.drain("a", 0, 10, false);
  world.log.append_gap(kBatches, kPartition);
  CHECK(world.merge_unread().value() == 1);
  CHECK(world.merge_start().read_from == world.log.end(kBatches, kPartition));
  CHECK(world.items() == 1);
  CHECK(world.merged_below() == std::nullopt);
}

TEST_CASE("new log: a store that is away ends it, nothing is removed, and it is done again from the same place") {
  World world;
  world.drain("a", 0, 10);
  world.drain("b", 10, 20);
  UnreadBatches unread({kPartition, 1, kSlotMs}, world.calendar, world.filters.take_over(kPartition).value(),
                       std::nullopt, world.source(), world.log.end(kBatches, kPartition));
  world.filters.fail_next(1);
  CHECK(unread.step(kNowMs).code() == Code::kRetry);
  CHECK(world.merge_start().read_from == Offset(0));
  CHECK(world.merge_unread().value() == 0);
  CHECK(world.merge_unread().value() == 0);  // Twice.
  CHECK(world.items() == 2);
  CHECK(world.merged_below() == Offset(20));
}

}  // namespace bloomring::simulation
