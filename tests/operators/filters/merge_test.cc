#include "operators/filters/merge.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "operators/filters/user_batch_writer.h"
#include "schemas/event.h"
#include "schemas/store_key.h"
#include "tests/support/delayed_writer.h"
#include "tests/support/instrumented.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_filter_store.h"
#include "tests/support/sealed_slot_end.h"

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
  // The different batches of each range that `batch` made for this rig.
  static inline std::map<std::pair<int64_t, int64_t>, std::set<std::string>> made = {};

  Rig() { made.clear(); }
  Merge merge() {
    return Merge({kPartition, 1}, calendar, store.take_over(kPartition).value(), *store.read_watermark(kPartition));
  }

  static DrainHeader header(int64_t from, int64_t to) {
    return {kPartition, 1, {Offset(from), Offset(to)}, DrainAttempt::kFirst};
  }
  static std::string batch(int64_t from, int64_t to, std::vector<DrainedPlay> plays,
                           std::vector<Forget> forgets = {}) {
    std::sort(forgets.begin(), forgets.end());
    UserBatchBuilder builder;
    std::sort(plays.begin(), plays.end());
    builder.add(kUser.bytes(), forgets, plays);
    return *made[{from, to}].insert(builder.finish(header(from, to))).first;
  }
  // The slot end of an hour of so many batches: those that were made for it, and where these are fewer unknown ones.
  // The hour is by default one in 1970, which lets nothing expire.
  static std::string end(int64_t from, int64_t to, uint64_t records, HourIndex hour = HourIndex(1)) {
    std::vector<std::string> batches(made[{from, to}].begin(), made[{from, to}].end());
    for (uint64_t i = batches.size(); i < records; ++i) batches.push_back("unknown " + std::to_string(i));
    REQUIRE(batches.size() == records);
    return end(from, to, batches, hour);
  }
  static std::string end(int64_t from, int64_t to, const std::vector<std::string>& batches,
                         HourIndex hour = HourIndex(1)) {
    return testing::sealed_slot_end(header(from, to), {{hour, {Offset(from), Offset(to)}}}, batches);
  }
  static HourIndex hour_of(int64_t time_ms) { return HourIndex(time_ms / 3'600'000); }
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
  bool in_filter(int64_t time_ms, ItemHash item) {
    const std::vector<StoredFilter> stored = filters(time_ms);
    filter::Query query;
    REQUIRE(query.add(stored.at(0).value, stored.at(0).store_key).ok());
    uint8_t found = filter::Query::kUnseen;
    query.run(std::span(&item, 1), kUser.bytes(), std::span(&found, 1));
    return found != filter::Query::kUnseen;
  }
  std::vector<StoredFilter> filters(int64_t time_ms) {
    const PeriodIndex period = calendar.period_of_ms(time_ms);
    std::vector<StoredFilter> out;
    REQUIRE(store.read(kUser.bytes(), std::span(&period, 1), out).ok());
    return out;
  }
};

Forget forget(const std::string& item, int64_t time_ms, int64_t offset) {
  return {false, false, item_hash(item), time_ms, Offset(offset)};
}
Forget forget_all(int64_t time_ms, int64_t offset) {
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
  REQUIRE(merge.apply(Rig::end(0, 3, 0, Rig::hour_of(kNowMs)), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::batch(3, 5, {play("a", old_ms)}), kNowMs, rig.detail).ok());
  CHECK(merge.stats().plays_expired == 1);
  CHECK(rig.filters(old_ms).empty());
}

TEST_CASE("merge: nothing is beyond retention while the store knows no merged log time") {
  Rig rig;
  Merge merge = rig.merge();
  const int64_t old_ms = kNowMs - 400 * kDayMs;
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", old_ms)}), kNowMs, rig.detail).ok());
  CHECK(merge.stats().plays_expired == 0);
  CHECK(rig.filters(old_ms).size() == 1);
  REQUIRE(merge.apply(Rig::end(0, 5, 1, Rig::hour_of(kNowMs)), kNowMs, rig.detail).ok());
  CHECK(rig.filters(old_ms).empty());
}

TEST_CASE("merge: no play is skipped as expired by a wall clock that is months ahead of merged log time") {
  Rig rig;
  Merge merge = rig.merge();
  const int64_t ahead_ms = kNowMs + 400 * kDayMs;
  rig.clock.advance_to_ms(ahead_ms);
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), ahead_ms, rig.detail).ok());
  CHECK(merge.stats().plays_expired == 0);
  REQUIRE(merge.apply(Rig::end(0, 5, 1, Rig::hour_of(kNowMs)), ahead_ms, rig.detail).ok());
  REQUIRE(merge.apply(Rig::batch(5, 9, {play("b", kNowMs)}), ahead_ms, rig.detail).ok());
  CHECK(merge.stats().plays_expired == 0);
  CHECK(rig.items(kNowMs) == 2);
}

TEST_CASE("merge: no play is skipped as expired by a log time that is months ahead of the wall clock") {
  Rig rig;
  Merge merge = rig.merge();
  const HourIndex ahead = Rig::hour_of(kNowMs + 400 * kDayMs);
  REQUIRE(merge.apply(Rig::end(0, 3, 0, ahead), kNowMs, rig.detail).ok());
  CHECK(merge.watermark()->merged_ms == kNowMs);
  rig.clock.advance_to_ms(kNowMs + 40 * kDayMs);
  REQUIRE(merge.apply(Rig::batch(3, 5, {play("a", kNowMs)}), kNowMs + 40 * kDayMs, rig.detail).ok());
  CHECK(merge.stats().plays_expired == 0);
  CHECK(rig.filters(kNowMs).size() == 1);
  const HourIndex beyond_all_times(INT64_MAX);
  REQUIRE(merge.apply(Rig::end(3, 5, 1, beyond_all_times), kNowMs, rig.detail).ok());
  CHECK(merge.watermark()->merged_ms == kNowMs);
}

TEST_CASE("merge: merged log time moves with the watermark and never goes back") {
  Rig rig;
  Merge merge = rig.merge();
  const HourIndex hour = Rig::hour_of(kNowMs);
  REQUIRE(merge.apply(Rig::end(0, 3, 0, HourIndex(hour.value - 3)), kNowMs, rig.detail).ok());
  const int64_t first_ms = merge.watermark()->merged_ms.value();
  CHECK(first_ms == (hour.value - 2) * 3'600'000);
  REQUIRE(merge.apply(Rig::end(3, 5, 0, HourIndex(hour.value - 2)), first_ms - kDayMs, rig.detail).ok());  // Behind.
  CHECK(merge.watermark()->merged_ms == first_ms);
  REQUIRE(merge.apply(Rig::end(9, 12, 0, HourIndex(hour.value - 1)), kNowMs, rig.detail).ok());  // Beyond a gap.
  CHECK(merge.watermark()->merged_ms == hour.value * 3'600'000);
  CHECK((*rig.store.read_watermark(kPartition))->merged_ms == hour.value * 3'600'000);
}

TEST_CASE("merge: the watermark moves with the slot end, not before") {
  Rig rig;
  Merge merge = rig.merge();
  const auto batch = merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail);
  REQUIRE(batch.ok());
  CHECK_FALSE((*batch)->slot_end);
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  const auto end = merge.apply(Rig::end(0, 5, 1), kNowMs, rig.detail);
  REQUIRE(end.ok());
  CHECK((*end)->slot_end);
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
  CHECK((*end)->slot_end);
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  CHECK(merge.stats().slot_ends_incomplete == 1);
  REQUIRE(merge.apply(Rig::batch(5, 9, {play("c", kNowMs)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(5, 9, 1), kNowMs, rig.detail).ok());
  CHECK((*rig.store.read_watermark(kPartition))->covers({Offset(5), Offset(9)}));
  CHECK_FALSE((*rig.store.read_watermark(kPartition))->covers({Offset(0), Offset(5)}));
}

TEST_CASE("merge: a forged slot end moves nothing, is counted and told, and the honest one after it counts") {
  Rig rig;
  Merge merge = rig.merge();
  const std::string batch = Rig::batch(0, 5, {play("a", kNowMs)});
  REQUIRE(merge.apply(batch, kNowMs, rig.detail).ok());
  const OffsetRange all{Offset(0), Offset(INT64_MAX)};
  SlotEnd empty{Rig::header(0, INT64_MAX), {{HourIndex(1), all}}};
  SlotEnd old = empty;
  old.version = kSlotEndVersionWithoutSum;
  SlotEnd other = testing::slot_end_of(Rig::header(0, 5), {{HourIndex(1), {Offset(0), Offset(5)}}}, {"another batch"});
  for (const SlotEnd& forged : {empty, old, other}) {
    const auto applied = merge.apply(encode_slot_end(forged), kNowMs, rig.detail);
    REQUIRE(applied.ok());
    CHECK((*applied)->refusal == Refusal::kNone);
    CHECK((*applied)->slot_end);  // Committed behind: the window stage must learn that nothing waits to be read.
    CHECK_FALSE((*applied)->doubt.empty());
  }
  CHECK(merge.stats().slot_ends_doubted == 3);
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  REQUIRE(merge.apply(batch, kNowMs, rig.detail).ok());  // The last one has the key: the slot is drained again.
  const auto honest = merge.apply(Rig::end(0, 5, 1), kNowMs, rig.detail);
  CHECK((*honest)->doubt.empty());
  CHECK((*rig.store.read_watermark(kPartition))->offset == Offset(5));
}

TEST_CASE("merge: a batch that is in the log twice counts once") {
  Rig rig;
  Merge merge = rig.merge();
  const std::string a = Rig::batch(0, 5, {play("a", kNowMs)});
  for (int i = 0; i < 2; ++i) REQUIRE(merge.apply(a, kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 5, 2), kNowMs, rig.detail).ok());
  CHECK_FALSE(rig.store.read_watermark(kPartition)->has_value());
  for (const std::string& again : {a, Rig::batch(0, 5, {play("b", kNowMs)}), a})
    REQUIRE(merge.apply(again, kNowMs, rig.detail).ok());
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
  Forget late = everything ? forget_all(kNowMs - 5, 6) : forget("a", kNowMs - 5, 6);
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
  REQUIRE(merge.apply(Rig::end(0, 1, 0, Rig::hour_of(kNowMs)), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::batch(1, 5, {}, {forget("a", kNowMs - 400 * kDayMs, 2)}), kNowMs, rig.detail).ok());
  CHECK(rig.forgotten().empty());
}

TEST_CASE("merge: a forgotten value that cannot be read does not stop merging, and stays corrupt") {
  Rig rig;
  Merge merge = rig.merge();
  REQUIRE(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}, {forget("b", kNowMs, 1)}), kNowMs, rig.detail).ok());
  rig.store.overwrite(forgotten_key(kUser.bytes()), "garbage");
  REQUIRE(merge.apply(Rig::batch(5, 9, {play("c", kNowMs)}, {forget("d", kNowMs, 6)}), kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(5, 9, 1), kNowMs, rig.detail).ok());
  CHECK(merge.stats().forgotten_damaged == 1);

  const std::string again = Rig::batch(9, 12, {play("d", kNowMs - kDayMs), play("d", kNowMs + 1)});
  REQUIRE(merge.apply(again, kNowMs, rig.detail).ok());
  CHECK(merge.stats().plays_forgotten == 1);
  CHECK(merge.stats().forgotten_damaged == 2);
  std::vector<StoredFilter> none;
  Forgotten unread;
  const Status status = rig.store.read(kUser.bytes(), {}, none, unread);
  CHECK(status.code() == Code::kCorrupt);
  CHECK_THAT(status.message(), Catch::Contains("bytes are missing") && Catch::Contains("the rest is kept") &&
                                   Catch::Contains("restore a backup"));
  rig.store.overwrite(forgotten_key(kUser.bytes()), encode_forgotten({}, forgotten_key(kUser.bytes())));  // Repaired.
  CHECK(rig.items(kNowMs) == 3);
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
  CHECK((*applied)->refusal == Refusal::kBadBatch);
  CHECK_FALSE(rig.detail.empty());
}

TEST_CASE("merge: while the store works a record waits, and it ends as with a store that is near") {
  const std::vector<std::string> records = {
      Rig::batch(0, 5, {play("a", kNowMs - 9), play("b", kNowMs - 8)}),
      Rig::batch(5, 9, {play("c", kNowMs - 1)}, {forget("a", kNowMs - 2, 6)}),
      Rig::end(12, 15, 0),
      Rig::batch(9, 12, {play("d", kNowMs)}),
      Rig::end(9, 12, 1),
  };
  const auto outcome = [&](uint64_t polls) {
    Rig rig;
    auto writer = std::make_unique<DelayedWriter>(rig.store.take_over(kPartition).value(), [=] { return polls; });
    Merge merge({kPartition, 1}, rig.calendar, std::move(writer), std::nullopt);
    std::vector<int> waits;
    for (const std::string& record : records) {
      waits.push_back(0);
      while (!merge.apply(record, kNowMs, rig.detail).value()) ++waits.back();
    }
    CHECK(std::ranges::all_of(waits, [&](int waited) { return (waited > 0) == (polls > 0); }));
    return std::tuple(rig.filters(kNowMs).at(0).value, encode_forgotten(rig.forgotten(), "key"),
                      (*rig.store.read_watermark(kPartition))->ahead);
  };
  CHECK(outcome(0) == outcome(3));
}

TEST_CASE("merge: a store that refuses leaves the record to be applied again") {
  Rig rig;
  Merge merge = rig.merge();
  rig.store.fail_next(1);
  CHECK(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail).code() == Code::kRetry);
  CHECK(merge.apply(Rig::batch(0, 5, {play("a", kNowMs)}), kNowMs, rig.detail).ok());
  CHECK(rig.filters(kNowMs).size() == 1);
}

TEST_CASE("merge: the records of a heavy user give the same filters and forgets in whatever order they come") {
  constexpr int kItems = kInstrumented ? 2'000 : 4'000;
  std::vector<DrainedPlay> plays;
  std::vector<Forget> forgets;
  for (int n = 0; n < kItems; ++n) {
    const std::string item = "item" + std::to_string(n);
    plays.push_back(play(item, kNowMs - 40 * kDayMs));
    if (n % 3 == 0) forgets.push_back(forget(item, kNowMs - 5 * kDayMs + n, 10));
    if (n % 2 == 0) plays.push_back(play(item, kNowMs - kDayMs));  // Again after it was forgotten.
  }
  forgets.push_back({true, false, ItemHash(0), kNowMs - 60 * kDayMs, Offset(11)});
  std::ranges::sort(plays);
  std::ranges::sort(forgets);
  UserBatchWriter writer(Rig::header(0, 20), 4 << 10);
  std::vector<std::string> records;
  writer.add(kUser.bytes(), forgets, plays, records);
  writer.close(records);
  REQUIRE(records.size() > 10);
  std::shuffle(records.begin(), records.end(), std::mt19937_64(GENERATE(1, 2, 3)));

  Rig whole, parts;
  Merge merge = parts.merge();
  for (const std::string& record : records) REQUIRE(merge.apply(record, kNowMs, parts.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 20, records), kNowMs, parts.detail).ok());
  CHECK(merge.watermark()->offset == Offset(20));
  REQUIRE(whole.merge().apply(Rig::batch(0, 20, plays, forgets), kNowMs, whole.detail).ok());
  CHECK(parts.forgotten() == whole.forgotten());
  const auto in_filter = [&](Rig& rig, int64_t time_ms, int n) {
    return rig.in_filter(time_ms, item_hash("item" + std::to_string(n)));
  };
  int wrongly_in = 0;
  for (int n = 0; n < kItems; ++n) {
    if (n % 2 == 0) REQUIRE(in_filter(parts, kNowMs - kDayMs, n));
    if (n % 3 != 0) REQUIRE(in_filter(parts, kNowMs - 40 * kDayMs, n));
    if (n % 3 == 0) wrongly_in += in_filter(parts, kNowMs - 40 * kDayMs, n);
  }
  CHECK(wrongly_in < 20);
}

TEST_CASE("merge: two million plays of one user in one drain are merged record by record") {
  constexpr size_t kPlays = kInstrumented ? 200'000 : 2'000'000;
  std::vector<DrainedPlay> plays;
  plays.reserve(kPlays);
  std::mt19937_64 random(7);
  for (size_t n = 0; n < kPlays; ++n) {
    plays.push_back(DrainedPlay::at(kNowMs - static_cast<int64_t>(n % 1'000) * kQuarterMs / 2, ItemHash(random())));
  }
  const DrainedPlay some = plays[kPlays / 2];
  std::ranges::sort(plays);
  UserBatchWriter writer(Rig::header(0, 20), 256 << 10);
  std::vector<std::string> records;
  writer.add(kUser.bytes(), {}, plays, records);
  writer.close(records);
  Rig rig;
  Merge merge = rig.merge();
  for (const std::string& record : records) REQUIRE(merge.apply(record, kNowMs, rig.detail).ok());
  REQUIRE(merge.apply(Rig::end(0, 20, records), kNowMs, rig.detail).ok());
  CHECK(merge.watermark()->offset == Offset(20));
  CHECK(merge.stats().plays == kPlays);
  const StoredFilter filter = rig.filters(some.time_ms()).at(0);
  CHECK(filter.value.size() < 8 << 20);
  CHECK(rig.in_filter(some.time_ms(), some.item));
}
