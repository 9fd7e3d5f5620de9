#include "operators/slot_drain.h"

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
using Forgets = std::map<std::string, std::vector<DrainedForget>>;

// Of an item in a quarter the latest play stays.
void insert(std::set<DrainedPlay>& plays, const DrainedPlay& play) {
  const auto same = std::find_if(plays.begin(), plays.end(), [&](const DrainedPlay& other) {
    return other.quarter == play.quarter && other.item == play.item;
  });
  if (same != plays.end() && same->ms >= play.ms) return;
  if (same != plays.end()) plays.erase(same);
  plays.insert(play);
}

// Stages blocks of plays under one hour and remembers them.
struct Staged {
  simulation::SimDisk disk;
  simulation::SimWindowStore store{disk};
  Plays plays;
  Forgets forgets;  // Of the last drain.
  StagedHour hour{.hour = kHour, .range = {Offset(0), Offset(0)}, .late_before_ms = kHour.value * kSlotMs};
  std::vector<StagedHour> earlier;

  void block(const std::vector<std::tuple<std::string, std::string, int64_t>>& events) {
    EventBlockBuilder builder;
    for (const auto& [user, item, time_ms] : events) {
      const UserKey key("", user);
      builder.add(key.bytes(), user_hash(key.bytes()), {EventKind::kPlay, item_hash(item), time_ms});
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
    builder.add(key.bytes(), user_hash(key.bytes()),
                {kind, kind == EventKind::kForgetAll ? ItemHash(0) : item_hash(item), time_ms});
    REQUIRE(store.stage(into.hour, into.range.to, builder.finish(PartitionId(0), kPartitions), {}).ok());
    into.range.to = Offset(into.range.to.value + 1);
    ++into.events;
    into.forgets += is_forget(kind) ? 1 : 0;
  }

  // Drains the slot and returns what the batches hold; checks the slot end's totals.
  Plays drain(SlotDrainConfig config, size_t* passes = nullptr) {
    SlotDrain drain({1, SlotIndex(5), DrainAttempt::kFirst, {hour}, earlier}, PartitionId(0), kPartitions, config);
    forgets.clear();
    if (passes != nullptr) *passes = drain.passes();
    std::vector<std::string> records;
    while (!drain.done()) REQUIRE(drain.next_pass(store, records).ok());
    Plays drained;
    uint64_t users = 0;
    for (const std::string& record : records) {
      auto reader = UserBatchReader::open(record, PartitionId(0), kPartitions);
      REQUIRE(reader.ok());
      CHECK(reader->header().range == hour.range);
      std::vector<ItemHash> items;
      std::vector<int64_t> times_ms;
      while (reader->next_user()) {
        ++users;
        if (!reader->forgets().empty()) forgets[std::string(reader->user_key())] = reader->forgets();
        for (QuarterIndex quarter; reader->next_quarter(quarter, items, times_ms);) {
          for (size_t i = 0; i < items.size(); ++i) {
            CHECK(drained[std::string(reader->user_key())].insert(DrainedPlay::at(times_ms[i], items[i])).second);
          }
        }
      }
    }
    CHECK(drain.slot_end().users == users);
    CHECK(drain.slot_end().records == records.size());
    CHECK(drain.slot_end().hours == std::vector<DrainedHour>{{kHour, hour.range}});
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

TEST_CASE("slot drain: its end does not speak of an hour that was released meanwhile") {
  Staged staged;
  staged.block({{"u1", "a", kTimeMs}});
  const HourIndex later(kHour.value + 6);  // Joined the slot a lap later.
  const StagedHour joined{later, {staged.hour.range.to, Offset(staged.hour.range.to.value + 1)}};
  SlotDrain drain({1, SlotIndex(5), DrainAttempt::kLap, {staged.hour, joined}}, PartitionId(0), kPartitions, {});
  drain.forget({kHour});
  std::vector<std::string> records;
  while (!drain.done()) REQUIRE(drain.next_pass(staged.store, records).ok());
  CHECK(drain.slot_end().hours == std::vector<DrainedHour>{{later, joined.range}});
  CHECK(drain.slot_end().header.range == OffsetRange{staged.hour.range.from, joined.range.to});
}

TEST_CASE("slot drain: forgets go with their user, of each item the latest, and late ones say so") {
  Staged staged;
  const int64_t start_ms = kHour.value * kSlotMs;
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms + 10);
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms + 30);
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms + 20);
  staged.event(staged.hour, EventKind::kForgetAll, "u1", "", start_ms - 1);
  CHECK(staged.drain({}).empty());
  const std::vector<DrainedForget> expected = {{false, false, item_hash("a"), start_ms + 30, Offset(1)},
                                               {true, true, ItemHash(0), start_ms - 1, Offset(3)}};
  CHECK(staged.forgets[kU1] == expected);
}

TEST_CASE("slot drain: in an hour that began early a forget is late by the newest play before it, not by the clock") {
  Staged staged;
  const int64_t start_ms = kHour.value * kSlotMs;
  staged.event(staged.hour, EventKind::kForget, "u1", "a", start_ms - 501);
  staged.event(staged.hour, EventKind::kForget, "u1", "b", start_ms - 500);
  const auto header = [&] { return SlotDrain({1, {}, {}, {staged.hour}}, PartitionId(0), kPartitions, {}).slot_end(); };
  const SlotEnd nominal = header();
  staged.hour.late_before_ms = start_ms - 500;
  CHECK(header().header != nominal.header);  // Other batches.
  staged.drain({});
  REQUIRE(staged.forgets[kU1].size() == 2);
  for (const DrainedForget& forget : staged.forgets[kU1]) CHECK(forget.late == (forget.item == item_hash("a")));
}

TEST_CASE("slot drain: what was forgotten in earlier unmerged hours goes with it, and no play of theirs") {
  Staged staged;
  StagedHour before{.hour = HourIndex(kHour.value - 1), .range = {Offset(0), Offset(0)}};
  const int64_t before_ms = before.hour.value * kSlotMs;
  staged.event(before, EventKind::kPlay, "u2", "x", before_ms);
  staged.event(before, EventKind::kForget, "u1", "a", before_ms + 7);
  staged.hour.range = {Offset(2), Offset(2)};
  staged.event(staged.hour, EventKind::kPlay, "u1", "b", kTimeMs);
  staged.earlier = {before};
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

TEST_CASE("slot drain: events that are no plays leave no batch") {
  Staged staged;
  EventBlockBuilder builder;
  const UserKey key("", "u1");
  builder.add(key.bytes(), user_hash(key.bytes()), {EventKind::kServe, item_hash("a"), kTimeMs});
  REQUIRE(staged.store.stage(kHour, Offset(0), builder.finish(PartitionId(0), kPartitions), {}).ok());
  staged.hour = {kHour, {Offset(0), Offset(1)}, 1, 1, 0};
  CHECK(staged.drain({}).empty());
}
