#include "operators/merge.h"

#include <catch2/catch.hpp>

#include "base/clock.h"
#include "base/hash.h"
#include "schemas/event.h"
#include "state/memory_filter_store.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;  // 2026-11-18.
constexpr int64_t kDayMs = 24LL * 3'600'000;
const PartitionId kPartition(0);
const UserKey kUser("", "u1");

struct Rig {
  ManualClock clock{kNowMs};
  Calendar calendar = *Calendar::create({});
  MemoryFilterStore store{filter::Policy{}, calendar, clock, 1};
  std::string detail;

  Merge merge() { return Merge({kPartition, 1}, calendar, store, *store.read_watermark(kPartition)); }

  static DrainHeader header(int64_t from, int64_t to) {
    return {kPartition, 1, {Offset(from), Offset(to)}, DrainAttempt::kFirst};
  }
  static std::string batch(int64_t from, int64_t to, std::vector<DrainedPlay> plays,
                           std::vector<DrainedForget> forgets = {}) {
    std::sort(forgets.begin(), forgets.end());
    UserBatchBuilder builder;
    std::sort(plays.begin(), plays.end());
    builder.add(kUser.bytes(), forgets, plays);
    return builder.finish(header(from, to));
  }
  static std::string end(int64_t from, int64_t to, uint64_t records) {
    return encode_slot_end({header(from, to), {{HourIndex(1), {Offset(from), Offset(to)}}}, 1, 1, records});
  }
  Forgotten forgotten() {
    Forgotten stored;
    std::vector<StoredFilter> none;
    REQUIRE(store.read(kUser.bytes(), {}, none, stored).ok());
    return stored;
  }
  uint64_t items(int64_t time_ms) {
    const StoredFilter filter = filters(time_ms).at(0);
    return filter::summarize(filter.value, filter.store_key)->items;
  }
  std::vector<StoredFilter> filters(int64_t time_ms) {
    const PeriodIndex period = calendar.period_of_ms(time_ms);
    std::vector<StoredFilter> out;
    REQUIRE(store.read(kUser.bytes(), std::span(&period, 1), out).ok());
    return out;
  }
};

DrainedForget forget(const std::string& item, int64_t time_ms, int64_t offset) {
  return {false, false, item_hash(item), time_ms, Offset(offset)};
}
DrainedForget forget_all(int64_t time_ms, int64_t offset) {
  return {true, false, ItemHash(0), time_ms, Offset(offset)};
}
DrainedPlay play(const std::string& item, int64_t time_ms) { return DrainedPlay::at(time_ms, item_hash(item)); }

}  // namespace

TEST_CASE("merge: a play lands in the filter of the month of its own event time, however late it comes") {
  Rig rig;
  Merge merge = rig.merge();
  const int64_t last_month_ms = kNowMs - 30 * kDayMs;
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", kNowMs), play("b", last_month_ms)}), kNowMs, rig.detail).ok());
  CHECK(filter::summarize(rig.filters(kNowMs).at(0).value, rig.filters(kNowMs).at(0).store_key)->items == 1);
  CHECK(rig.filters(last_month_ms).size() == 1);
  CHECK(merge.stats().plays == 2);
}

TEST_CASE("merge: a play beyond retention is counted and skipped") {
  Rig rig;
  Merge merge = rig.merge();
  const int64_t old_ms = kNowMs - 400 * kDayMs;
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", old_ms)}), kNowMs, rig.detail).ok());
  CHECK(merge.stats().plays_expired == 1);
  CHECK(rig.filters(old_ms).empty());
}

TEST_CASE("merge: the watermark moves with the slot end, not before") {
  Rig rig;
  Merge merge = rig.merge();
  const auto batch = merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail);
  REQUIRE(batch.ok());
  CHECK_FALSE(batch->slot_end);
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  const auto end = merge.apply(Rig::end(0, 5, 1), kNowMs, rig.detail);
  REQUIRE(end.ok());
  CHECK(end->slot_end);
  CHECK((*rig.store.read_watermark(kPartition))->offset == Offset(5));
}

TEST_CASE("merge: a slot end beyond a missing slot is kept aside until the gap closes") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::end(5, 9, 0), kNowMs, rig.detail).ok());
  CHECK((*rig.store.read_watermark(kPartition))->offset == Offset(0));
  REQUIRE(merge.apply(Rig::end(0, 5, 0), kNowMs, rig.detail).ok());
  CHECK((*rig.store.read_watermark(kPartition))->offset == Offset(9));
}

TEST_CASE("merge: batches of a range that is merged already cost the store nothing") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 5, 1), kNowMs, rig.detail).ok());
  const uint64_t updates = rig.store.stats().updates;
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail).ok());
  CHECK(rig.store.stats().updates == updates);
  CHECK(merge.stats().records_covered == 1);
}

TEST_CASE(
    "merge: a slot end moves nothing unless all of its batches were seen, since they may be lost or in a store that is "
    "gone") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("b", kNowMs)}), kNowMs, rig.detail).ok());
  const auto end = merge.apply(Rig::end(0, 5, 2), kNowMs, rig.detail);
  REQUIRE(end.ok());
  CHECK(end->slot_end);
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  CHECK(merge.stats().slot_ends_incomplete == 1);
  REQUIRE(merge.apply(Rig::batch(5, 9, {play("c", kNowMs)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(5, 9, 1), kNowMs, rig.detail).ok());
  CHECK((*rig.store.read_watermark(kPartition))->covers({Offset(5), Offset(9)}));
  CHECK_FALSE((*rig.store.read_watermark(kPartition))->covers({Offset(0), Offset(5)}));
}

TEST_CASE("merge: a batch that is in the log twice counts once") {
  Rig rig;
  Merge merge = rig.merge();
  const std::string a = Rig::batch(0, 5, {play("a", kNowMs)});
  for (int i = 0; i < 2; ++i) REQUIRE(merge.apply(a, kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 5, 2), kNowMs, rig.detail).ok());
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("b", kNowMs)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 5, 2), kNowMs, rig.detail).ok());
  CHECK((*rig.store.read_watermark(kPartition))->offset == Offset(5));
}

TEST_CASE("merge: a forgotten item is masked up to its time, and counts again when it is played after that") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", kNowMs - 9)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 5, 1), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::batch(5, 9, {play("a", kNowMs - 1)}, {forget("a", kNowMs, 6)}), kNowMs, rig.detail).ok());
  CHECK(rig.forgotten().find(item_hash("a"))->forgotten_ms == kNowMs);
  CHECK(rig.forgotten().find(item_hash("a"))->played_ms == 0);
  CHECK(merge.stats().plays_forgotten == 1);
  CHECK(merge.stats().forgets == 1);
  REQUIRE(merge.apply(Rig::batch(9, 12, {play("a", kNowMs + 1)}), kNowMs, rig.detail).ok());
  CHECK(rig.forgotten().find(item_hash("a"))->played_ms == kNowMs + 1);
}

TEST_CASE("merge: everything forgotten takes the filters up to its period along, and old plays do not come back") {
  Rig rig;
  Merge merge = rig.merge();
  const int64_t last_month_ms = kNowMs - 30 * kDayMs;
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", last_month_ms), play("b", kNowMs - 1)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 5, 1), kNowMs, rig.detail).ok());
  const std::string forgetting = Rig::batch(5, 9, {play("c", kNowMs + 1)}, {forget_all(kNowMs, 6)});
  REQUIRE(merge.apply(forgetting, kNowMs, rig.detail).ok());
  CHECK(rig.filters(last_month_ms).empty());
  CHECK(rig.items(kNowMs) == 1);
  REQUIRE(merge
              .apply(Rig::batch(9, 12, {play("a", last_month_ms), play("b", kNowMs), play("d", kNowMs + 2)}), kNowMs,
                     rig.detail)
              .ok());
  REQUIRE(merge.apply(forgetting, kNowMs, rig.detail).ok());  // Again, after what came later.
  CHECK(rig.filters(last_month_ms).empty());
  CHECK(rig.items(kNowMs) == 2);
}

TEST_CASE("merge: a late forget reaches to the beginning of its period, since later plays may be merged already") {
  Rig rig;
  Merge merge = rig.merge();
  const int64_t last_month_ms = kNowMs - 30 * kDayMs;
  const int64_t month_start_ms = rig.calendar.start_ms(rig.calendar.period_of_ms(kNowMs));
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", last_month_ms), play("a", kNowMs - 1)}), kNowMs, rig.detail).ok());
  const bool everything = GENERATE(true, false);
  DrainedForget late = everything ? forget_all(kNowMs - 5, 6) : forget("a", kNowMs - 5, 6);
  late.late = true;
  REQUIRE(merge.apply(Rig::batch(5, 9, {}, {late}), kNowMs, rig.detail).ok());
  CHECK(rig.items(kNowMs) == 1);
  CHECK(rig.filters(last_month_ms).empty() == everything);
  CHECK((everything ? rig.forgotten().everything_ms() : rig.forgotten().find(item_hash("a"))->forgotten_ms) ==
        month_start_ms - 1);
}

TEST_CASE("merge: a forget that comes behind what was logged after it and is merged is treated as a late one") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::batch(20, 30, {play("a", kNowMs + 5)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(20, 30, 1), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::batch(5, 9, {}, {forget_all(kNowMs, 6)}), kNowMs, rig.detail).ok());
  CHECK(rig.items(kNowMs) == 1);
}

TEST_CASE("merge: a forget beyond retention is no news") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::batch(0, 5, {}, {forget("a", kNowMs - 400 * kDayMs, 1)}), kNowMs, rig.detail).ok());
  CHECK(rig.forgotten().empty());
}

TEST_CASE("merge: batches cut by failures of the store and taken again end as if nothing had happened") {
  const std::vector<std::string> records = {
      Rig::batch(0, 5, {play("a", kNowMs - 9), play("b", kNowMs - 8)}),
      Rig::batch(5, 9, {play("a", kNowMs + 1), play("c", kNowMs - 1)},
                 {forget("a", kNowMs, 6), forget_all(kNowMs - 5, 7)}),
      Rig::batch(9, 12, {play("b", kNowMs - 6), play("d", kNowMs + 2)}, {forget("d", kNowMs + 1, 10)}),
  };
  const auto outcome = [&](bool failures) {
    Rig rig;
    Merge merge = rig.merge();
    for (const std::string& record : records) {
      for (int failing = failures ? 2 : 0; failing > 0; --failing) {
        rig.store.fail_next(failing);
        CHECK(merge.apply(record, kNowMs, rig.detail).code() == Code::kRetry);
        rig.store.fail_next(0);
      }
      REQUIRE(merge.apply(record, kNowMs, rig.detail).ok());
    }
    return std::pair(rig.filters(kNowMs).at(0).value, encode_forgotten(rig.forgotten(), "key"));
  };
  CHECK(outcome(true) == outcome(false));
}

TEST_CASE("merge: a record that is no batch record is refused and changes nothing") {
  Rig rig;
  Merge merge = rig.merge();
  const auto applied = merge.apply("no batch", kNowMs, rig.detail);
  REQUIRE(applied.ok());
  CHECK(applied->refusal == Refusal::kBadBatch);
  CHECK_FALSE(rig.detail.empty());
}

TEST_CASE("merge: a store that refuses leaves the record to be applied again") {
  Rig rig;
  Merge merge = rig.merge();
  rig.store.fail_next(1);
  CHECK(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail).code() == Code::kRetry);
  CHECK(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail).ok());
  CHECK(rig.filters(kNowMs).size() == 1);
}
