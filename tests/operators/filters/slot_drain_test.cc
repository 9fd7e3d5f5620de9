#include "operators/filters/slot_drain.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "tests/simulation/sim_disk.h"

using namespace bloomring;

namespace {

constexpr int64_t kTimeMs = 1'795'000'000'000;
constexpr uint32_t kPartitions = 1;
constexpr int64_t kSlotMs = 3'600'000;
const HourIndex kHour(kTimeMs / kSlotMs);
const std::string kU1(UserKey("", "u1").bytes());

using Plays = std::map<std::string, std::set<DrainedPlay>>;
using Forgets = std::map<std::string, std::vector<Forget>>;

// How many forgets there are of each item; of everything: of item 0.
std::map<ItemHash, int> by_item(const std::vector<Forget>& forgets) {
  std::map<ItemHash, int> counts;
  for (const Forget& forget : forgets) ++counts[forget.item];
  return counts;
}

// Of an item in a quarter the latest play stays.
void insert(std::set<DrainedPlay>& plays, const DrainedPlay& play) {
  const auto same = plays.lower_bound({play.quarter, 0, play.item});
  const bool repeat = same != plays.end() && same->quarter == play.quarter && same->item == play.item;
  if (repeat && same->ms >= play.ms) return;
  if (repeat) plays.erase(same);
  plays.insert(play);
}

// Stages blocks of plays under one hour and remembers them.
struct Staged {
  simulation::SimDisk disk;
  simulation::SimWindowStore store{disk};
  Plays plays;
  Forgets forgets;  // Of the last drain.
  StagedHour hour{.hour = kHour, .range = {Offset(0), Offset(0)}};
  std::vector<StagedHour> earlier;
  ForgetsByHour forgets_of{{kHour, {0, kHour.value * kSlotMs}}};
  // Of the one user that forgets, when the test says which: they must go with the plays of their items.
  bool with_their_plays = false;
  std::vector<Forget> all_forgets;

  void block(const std::vector<std::tuple<std::string, std::string, int64_t>>& events) {
    EventBlockBuilder builder;
    for (const auto& [user, item, time_ms] : events) {
      const UserKey key("", user);
      builder.add(key.bytes(), {EventKind::kPlay, item_hash(item), time_ms});
      insert(plays[std::string(key.bytes())], DrainedPlay::at(time_ms, item_hash(item)));
    }
    const Offset offset = hour.range.to;
    REQUIRE(store.stage(kHour, offset, builder.finish(PartitionId(0), kPartitions), {}).ok());
    hour.range.to = Offset(offset.value + 1);
    hour.events += events.size();
  }

  // Stages one event in an hour of its own choice.
  void event(StagedHour& into, EventKind kind, const std::string& user, const std::string& item, int64_t time_ms) {
    EventBlockBuilder builder;
    const UserKey key("", user);
    builder.add(key.bytes(), {kind, kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(item), time_ms});
    REQUIRE(store.stage(into.hour, into.range.to, builder.finish(PartitionId(0), kPartitions), {}).ok());
    into.range.to = Offset(into.range.to.value + 1);
    ++into.events;
    forgets_of[into.hour].forgets += is_forget(kind) ? 1 : 0;
  }

  // Drains the slot and returns what the batches hold; checks the slot end's totals.
  Plays drain(SlotDrainConfig config, size_t* passes = nullptr) {
    SlotDrain drain({1, SlotIndex(5), DrainAttempt::kFirst, {hour}, earlier}, forgets_of, PartitionId(0), kPartitions,
                    config);
    forgets.clear();
    if (passes != nullptr) *passes = drain.passes();
    std::vector<std::string> records;
    while (!drain.done()) REQUIRE(drain.next_pass(store, records).ok());
    CHECK(drain.totals().events_in_memory_max <= config.pass_bytes_max / SlotDrain::kPassBytesPerEvent * 5 / 4);
    Plays drained;
    auto expected = by_item(all_forgets);
    uint64_t users = 0;
    for (const std::string& record : records) {
      CHECK(record.size() <= std::max<size_t>(2 * config.record_bytes, 1 << 10));
      auto reader = UserBatchReader::open(record, PartitionId(0), kPartitions);
      REQUIRE(reader.ok());
      CHECK(reader->header().range == hour.range);
      std::set<std::string> in_record;
      std::vector<ItemHash> items;
      std::vector<int64_t> times_ms;
      while (reader->next_user()) {
        ++users;
        const std::string user(reader->user_key());
        CHECK(in_record.insert(user).second);
        forgets[user].insert(forgets[user].end(), reader->forgets().begin(), reader->forgets().end());
        auto here = by_item(reader->forgets());
        for (QuarterIndex quarter; reader->next_quarter(quarter, items, times_ms);) {
          for (size_t i = 0; i < items.size(); ++i) {
            if (!drained[user].insert(DrainedPlay::at(times_ms[i], items[i])).second) FAIL("a play is drained twice");
            // Each record is merged by itself, in whatever order: what is forgotten of a play goes with it.
            const bool all_here = !with_their_plays || (here[items[i]] == expected[items[i]] && here[ItemHash(0)] == 1);
            if (!all_here) FAIL("a play without its forgets");
          }
        }
      }
    }
    for (auto& [user, all] : forgets) {  // Of a user in several records some are said again.
      std::ranges::sort(all);
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    CHECK(drain.end().users == users);
    CHECK(drain.end().records == records.size());
    CHECK(drain.end().hours == std::vector<DrainedHour>{{kHour, hour.range}});
    return drained;
  }
};

}  // namespace

TEST_CASE("slot drain: every play of the slot is in exactly one batch of its user, repeats once") {
  Staged staged;
  staged.block({{"u1", "a", kTimeMs}, {"u2", "a", kTimeMs}, {"u1", "b", kTimeMs + 1}});
  staged.block({{"u1", "a", kTimeMs + 5}, {"u1", "a", kTimeMs - 5}, {"u1", "a", kTimeMs + kQuarterMs}});
  CHECK(staged.drain({}) == staged.plays);
}

TEST_CASE("slot drain: its end does not speak of an hour that was merged meanwhile") {
  Staged staged;
  staged.block({{"u1", "a", kTimeMs}});
  const HourIndex later(kHour.value + 6);  // Joined the slot a lap later.
  const StagedHour joined{later, {staged.hour.range.to, Offset(staged.hour.range.to.value + 1)}};
  staged.disk.current.blocks.clear();  // Released.
  SlotDrain drain({1, SlotIndex(5), DrainAttempt::kLap, {staged.hour, joined}}, {}, PartitionId(0), kPartitions, {});
  MergedWatermark watermark;
  watermark.add(staged.hour.range, kHour);
  drain.drop_merged(watermark);
  std::vector<std::string> records;
  while (!drain.done()) REQUIRE(drain.next_pass(staged.store, records).ok());
  CHECK(drain.end().hours == std::vector<DrainedHour>{{later, joined.range}});
  CHECK(drain.end().header.range == OffsetRange{staged.hour.range.from, joined.range.to});
}

TEST_CASE("slot drain: forgets go with their user, of each item the latest and those behind it, and late ones say so") {
  Staged staged;
  const int64_t start_ms = kHour.value * kSlotMs;
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms + 10);
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms + 30);
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms + 20);
  staged.event(staged.hour, EventKind::kForgetAll, "u1", "", start_ms - 1);
  CHECK(staged.drain({}).empty());
  const std::vector<Forget> expected = {{false, false, item_hash("a"), start_ms + 20, Offset(2)},
                                               {false, false, item_hash("a"), start_ms + 30, Offset(1)},
                                               {true, true, ItemHash(0), start_ms - 1, Offset(3)}};
  CHECK(staged.forgets[kU1] == expected);
}

TEST_CASE("slot drain: in an hour that began early a forget is late by the newest play before it, not by the clock") {
  Staged staged;
  const int64_t start_ms = kHour.value * kSlotMs;
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms - 501);
  staged.event(staged.hour, EventKind::kForget, "u1", "b", start_ms - 500);
  const auto header = [&] {
    return SlotDrain({1, {}, {}, {staged.hour}}, staged.forgets_of, PartitionId(0), kPartitions, {}).end();
  };
  const SlotEnd nominal = header();
  staged.forgets_of[kHour].late_before_ms = start_ms - 500;
  CHECK(header().header != nominal.header);  // Other batches.
  staged.drain({});
  REQUIRE(staged.forgets[kU1].size() == 2);
  for (const Forget& forget : staged.forgets[kU1]) CHECK(forget.late == (forget.item == item_hash("a")));
}

TEST_CASE("slot drain: what was forgotten in earlier unmerged hours goes with it, and no play of theirs") {
  Staged staged;
  StagedHour before{.hour = HourIndex(kHour.value - 1), .range = {Offset(0), Offset(0)}};
  const int64_t before_ms = before.hour.value * kSlotMs;
  staged.event(before, EventKind::kPlay, "u2", "x", before_ms);
  staged.event(before, EventKind::kForget, "u1", "a", before_ms + 7);
  staged.hour.range = {Offset(2), Offset(2)};
  staged.event(staged.hour, EventKind::kPlay, "u1", "b", kTimeMs);
  const HourIndex without(before.hour.value - 1);  // Its blocks are not even read.
  staged.earlier = {{.hour = without, .range = {Offset(0), Offset(1)}, .events = 5}, before};
  CHECK(staged.drain({}) == Plays{{kU1, {DrainedPlay::at(kTimeMs, item_hash("b"))}}});
  CHECK(staged.forgets == Forgets{{kU1, {{false, false, item_hash("a"), before_ms + 7, Offset(1)}}}});
}

TEST_CASE("slot drain: a large slot is drained in passes of bounded memory with the same result") {
  Staged staged;
  for (int block = 0; block < 40; ++block) {
    std::vector<std::tuple<std::string, std::string, int64_t>> events;
    for (int i = 0; i < 1000; ++i) {
      const int n = block * 1000 + i;
      events.emplace_back("user" + std::to_string(n % 700), "item" + std::to_string(n), kTimeMs + n * 50LL);
    }
    staged.block(events);
  }
  SlotDrainConfig config;
  config.passes = 1;
  config.pass_bytes_max = 256 << 10;
  config.record_bytes = 4 << 10;
  size_t passes = 0;
  CHECK(staged.drain(config, &passes) == staged.plays);
  CHECK(passes >= 7);
}

TEST_CASE("slot drain: the plays of a heavy user span records of bounded size, in passes of bounded memory") {
  Staged staged;
  constexpr int kPlays = 150'000;
  for (int from = 0; from < kPlays; from += 5'000) {
    std::vector<std::tuple<std::string, std::string, int64_t>> events;
    for (int n = from; n < from + 5'000; ++n) {
      events.emplace_back("u1", "item" + std::to_string(n), kTimeMs - n * 31'000LL);
      if (n % 50 == 0) events.emplace_back("u" + std::to_string(n), "item", kTimeMs);
    }
    staged.block(events);
  }
  size_t passes = 0;
  CHECK(staged.drain({}, &passes) == staged.plays);
  CHECK(passes > 1);
  SlotDrainConfig config;
  config.pass_bytes_max = 1 << 20;  // Far less than the one user takes.
  CHECK(staged.drain(config) == staged.plays);
}

TEST_CASE("slot drain: the forgets of a heavy user span records, and go with the plays that they are about") {
  Staged staged;
  const int64_t start_ms = kHour.value * kSlotMs;
  std::vector<std::tuple<std::string, std::string, int64_t>> events;
  for (int n = 0; n < 30'000; ++n)
    events.emplace_back("u1", "item" + std::to_string(n), kTimeMs - n % 977 * kQuarterMs);
  staged.block(events);
  EventBlockBuilder builder;
  for (int n = 20'000; n < 60'000; ++n) {
    const bool everything = n == 30'000;
    const bool late = n % 2 == 0;
    const Event event{everything ? EventKind::kForgetAll : EventKind::kForget,
                      everything ? ItemHash(0) : item_hash("item" + std::to_string(n)), start_ms + (late ? -n : n)};
    builder.add(kU1, event);
    staged.all_forgets.push_back({everything, late, event.item, event.time_ms, staged.hour.range.to});
  }
  REQUIRE(staged.store.stage(kHour, staged.hour.range.to, builder.finish(PartitionId(0), kPartitions), {}).ok());
  staged.hour.range.to = Offset(staged.hour.range.to.value + 1);
  staged.hour.events += 40'000;
  staged.forgets_of[kHour].forgets = 40'000;
  staged.with_their_plays = true;
  std::ranges::sort(staged.all_forgets);
  SlotDrainConfig config;
  config.pass_bytes_max = GENERATE(64 << 20, 1 << 20);
  CHECK(staged.drain(config) == staged.plays);
  CHECK(staged.forgets[kU1] == staged.all_forgets);
}

TEST_CASE("slot drain: no two records are the same where the parts of a pass hold the same forgets of everything") {
  Staged staged;
  for (int block = 0; block < 100; ++block) {
    std::vector<std::tuple<std::string, std::string, int64_t>> plays;
    for (int i = 0; i < 100; ++i) plays.emplace_back("u1", "item-" + std::to_string(100 * block + i), kTimeMs + block);
    staged.block(plays);
  }
  staged.event(staged.hour, EventKind::kForgetAll, "u1", "", kTimeMs - 1'000);
  const SlotDrainConfig config{.pass_bytes_max = 100'000, .record_bytes = 1'000};
  SlotDrain drain({1, SlotIndex(5), DrainAttempt::kFirst, {staged.hour}, {}}, staged.forgets_of, PartitionId(0),
                  kPartitions, config);
  std::vector<std::string> records;
  while (!drain.done()) REQUIRE(drain.next_pass(staged.store, records).ok());
  // The merge stage knows the records of a drain by their hashes, and waits for as many as the slot end says.
  CHECK(std::set(records.begin(), records.end()).size() == records.size());
  CHECK(drain.end().records == records.size());
}

TEST_CASE("slot drain: one item that one user plays all day is one play a quarter, within the memory of a pass") {
  Staged staged;
  for (int block = 0; block < 20; ++block) {
    std::vector<std::tuple<std::string, std::string, int64_t>> events;
    for (int n = 0; n < 10'000; ++n) events.emplace_back("u1", "a", kTimeMs - (block * 10'000 + n) * 400LL);
    staged.block(events);
  }
  SlotDrainConfig config;
  config.pass_bytes_max = 1 << 20;
  CHECK(staged.drain(config) == staged.plays);
}

TEST_CASE("slot drain: events that are no plays leave no batch") {
  Staged staged;
  EventBlockBuilder builder;
  const UserKey key("", "u1");
  builder.add(key.bytes(), {EventKind::kServe, item_hash("a"), kTimeMs});
  REQUIRE(staged.store.stage(kHour, Offset(0), builder.finish(PartitionId(0), kPartitions), {}).ok());
  staged.hour = {kHour, {Offset(0), Offset(1)}, 1, 1};
  CHECK(staged.drain({}).empty());
}

TEST_CASE("slot drain: staged blocks that are gone fail the drain, and no slot end speaks of them") {
  Staged staged;
  staged.block({{"u1", "a", kTimeMs}, {"u2", "a", kTimeMs}});
  staged.block({{"u1", "b", kTimeMs}});
  const StagedHour before{.hour = HourIndex(kHour.value - 1), .range = {}, .events = 1};
  std::vector<StagedHour> earlier;
  SECTION("of the slot") { staged.disk.current.blocks.erase({kHour.value, 1}); }
  SECTION("of an earlier hour with forgets") {
    earlier = {before};
    staged.forgets_of[before.hour].forgets = 1;
  }
  SlotDrain drain({1, SlotIndex(5), DrainAttempt::kFirst, {staged.hour}, earlier}, staged.forgets_of, PartitionId(0),
                  kPartitions, {});
  std::vector<std::string> records;
  const Status failed = drain.next_pass(staged.store, records);
  CHECK(failed.code() == Code::kFatal);
  CHECK_THAT(failed.message(), Catch::Contains("events") && Catch::Contains("staged"));
  CHECK(records.empty());
  CHECK_FALSE(drain.done());
}
