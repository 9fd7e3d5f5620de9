#include "operators/slot_drain.h"

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
const HourIndex kHour(5);

using Plays = std::map<std::string, std::set<DrainedPlay>>;

// Stages blocks of plays under one hour and remembers them.
struct Staged {
  simulation::SimDisk disk;
  simulation::SimWindowStore store{disk};
  Plays plays;
  StagedHour hour{kHour, {Offset(0), Offset(0)}, 0, 0};

  void block(const std::vector<std::tuple<std::string, std::string, int64_t>>& events) {
    EventBlockBuilder builder;
    for (const auto& [user, item, time_ms] : events) {
      const UserKey key("", user);
      builder.add(key.bytes(), user_hash(key.bytes()), {EventKind::kPlay, item_hash(item), time_ms});
      plays[std::string(key.bytes())].insert({quarter_of(time_ms), item_hash(item)});
    }
    const Offset offset = hour.range.to;
    REQUIRE(store.stage(kHour, offset, builder.finish(PartitionId(0), kPartitions), {}).ok());
    hour.range.to = Offset(offset.value + 1);
    hour.events += events.size();
  }

  // Drains the slot and returns what the batches hold; checks the slot end's totals.
  Plays drain(SlotDrainConfig config, size_t* passes = nullptr) {
    SlotDrain drain({1, SlotIndex(5), DrainAttempt::kFirst, {hour}}, PartitionId(0), kPartitions, config);
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
      while (reader->next_user()) {
        ++users;
        for (QuarterIndex quarter; reader->next_quarter(quarter, items);) {
          for (const ItemHash item : items) CHECK(drained[std::string(reader->user_key())].insert({quarter, item}).second);
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
  staged.block({{"u1", "a", kTimeMs}, {"u1", "a", kTimeMs + kQuarterMs}});
  CHECK(staged.drain({}) == staged.plays);
}

TEST_CASE("slot drain: its end does not speak of an hour that was released meanwhile") {
  Staged staged;
  staged.block({{"u1", "a", kTimeMs}});
  const HourIndex later(kHour.value + 6);  // Joined the slot a lap later.
  const StagedHour joined{later, {staged.hour.range.to, Offset(staged.hour.range.to.value + 1)}, 0, 0};
  SlotDrain drain({1, SlotIndex(5), DrainAttempt::kLap, {staged.hour, joined}}, PartitionId(0), kPartitions, {});
  drain.forget({kHour});
  std::vector<std::string> records;
  while (!drain.done()) REQUIRE(drain.next_pass(staged.store, records).ok());
  CHECK(drain.slot_end().hours == std::vector<DrainedHour>{{later, joined.range}});
  CHECK(drain.slot_end().header.range == OffsetRange{staged.hour.range.from, joined.range.to});
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
  staged.hour = {kHour, {Offset(0), Offset(1)}, 1, 1};
  CHECK(staged.drain({}).empty());
}
