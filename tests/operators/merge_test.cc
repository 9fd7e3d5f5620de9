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

  static DrainHeader header(int64_t from, int64_t to) { return {kPartition, 1, {Offset(from), Offset(to)}, DrainAttempt::kFirst}; }
  static std::string batch(int64_t from, int64_t to, std::vector<DrainedPlay> plays) {
    UserBatchBuilder builder;
    std::sort(plays.begin(), plays.end());
    builder.add(kUser.bytes(), plays);
    return builder.finish(header(from, to));
  }
  static std::string end(int64_t from, int64_t to, uint64_t records) {
    return encode_slot_end({header(from, to), {{HourIndex(1), {Offset(from), Offset(to)}}}, 1, 1, records});
  }
  std::vector<StoredFilter> filters(int64_t time_ms) {
    const PeriodIndex period = calendar.period_of_ms(time_ms);
    std::vector<StoredFilter> out;
    REQUIRE(store.read(kUser.bytes(), std::span(&period, 1), out).ok());
    return out;
  }
};

DrainedPlay play(const std::string& item, int64_t time_ms) { return {quarter_of(time_ms), item_hash(item)}; }

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

TEST_CASE("merge: a slot end moves nothing unless all of its batches were seen, since they may be lost or in a store that is gone") {
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
