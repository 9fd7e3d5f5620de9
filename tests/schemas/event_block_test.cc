#include "schemas/event_block.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "base/hash.h"
#include "tests/schemas/documented_example.h"
#include "tests/schemas/forgery.h"
#include "tests/support/instrumented.h"

using namespace bloomring;

// Bytes that would be gone at the end of the statement do not compile.
template <typename Bytes>
concept Readable = requires(Bytes bytes) { EventBlockReader::open(std::forward<Bytes>(bytes), PartitionId(0), 1); } &&
                   requires(Bytes bytes) { EventBlockReader::reopen(std::forward<Bytes>(bytes)); };
static_assert(Readable<const std::string&> && Readable<std::string_view>);
static_assert(!Readable<std::string> && !Readable<const std::string>);

namespace {

constexpr uint32_t kPartitionCount = 2;
constexpr PartitionId kPartition(0);
constexpr int64_t kTimeMs = 1'649'314'823'123;

const std::string kFeedU1 = key_of("feed", "u1");  // Shard 2051.
const std::string kSeven = key_of("", "7");        // Shard 1466.

struct Added {
  std::string user_key;
  Event event;
};

Event play(std::string_view item, int64_t time_ms) { return {EventKind::kPlay, item_hash(item), time_ms}; }

std::string block_of(const std::vector<Added>& events, PartitionId partition = kPartition,
                     uint32_t count = kPartitionCount) {
  EventBlockBuilder builder;
  for (const Added& added : events) builder.add(added.user_key, added.event);
  return builder.finish(partition, count);
}

std::string sample() {
  return block_of({{kFeedU1, play("v1", kTimeMs)},
                   {kSeven, play("v1", kTimeMs - 3'123)},
                   {kFeedU1, play("v2", kTimeMs + 1'176'877)}});
}

Code opened(const std::string& bytes) { return EventBlockReader::open(bytes, kPartition, kPartitionCount).code(); }

// A head as the builder writes it, with fields that a test can make wrong.
struct Head {
  uint64_t kind = kEventBlockKind, version = kEventBlockVersion, flags = 0, count = kPartitionCount, partition = 0;
  uint64_t base = kTimeMs, users = 1, events = 1;
};

Forgery forged(const Head& head) {
  return Forgery()
      .u8(head.kind)
      .u8(head.version)
      .u8(head.flags)
      .varint(head.count)
      .varint(head.partition)
      .varint(head.base)
      .varint(head.users)
      .varint(head.events);
}

std::string with_one_event(const Head& head, uint64_t kind = 1, uint64_t delta = 0) {
  return forged(head).bytes(kSeven).varint(1).u8(kind).u64(42).varint(delta).sealed(kEventBlockKind);
}

std::string with_key(std::string_view key) {
  return forged({}).bytes(key).varint(1).u8(1).u64(42).varint(0).sealed(kEventBlockKind);
}

}  // namespace

TEST_CASE("event block: its bytes are those of the document") {
  CHECK(hex(sample()) == hex(documented_example("Event block, version 1")));
}

TEST_CASE("event block: users come in the order of their first event, a user's events in the order they were added") {
  const std::vector<Added> events = {
      {kFeedU1, play("v1", kTimeMs)},
      {kSeven, play("v9", kTimeMs - 5'000)},
      {kFeedU1, {EventKind::kServe, item_hash("v3"), kTimeMs + 20}},
      {kFeedU1, play("v1", kTimeMs - 90'000)},
      {kFeedU1, {EventKind::kForget, item_hash("v1"), kTimeMs + 1}},
      {kSeven, {EventKind::kForgetAll, ItemHash(0), kTimeMs}},
      {kFeedU1, play("v1", kTimeMs + 2)},
  };
  const std::string bytes = block_of(events);
  auto reader = EventBlockReader::open(bytes, kPartition, kPartitionCount);
  REQUIRE(reader.ok());
  CHECK(reader->events() == events.size());
  for (const std::string& user : {kFeedU1, kSeven}) {
    REQUIRE(reader->next_user());
    CHECK(reader->user_key() == user);
    for (const Added& added : events) {
      if (added.user_key != user) continue;
      REQUIRE(reader->next_event());
      CHECK(reader->event().kind == added.event.kind);
      CHECK(reader->event().item == added.event.item);
      CHECK(reader->event().time_ms == added.event.time_ms);
    }
    CHECK_FALSE(reader->next_event());
  }
  CHECK_FALSE(reader->next_user());
}

TEST_CASE("event block: moving to the next user skips what is left of the one before") {
  const std::string bytes = sample();
  auto reader = EventBlockReader::open(bytes, kPartition, kPartitionCount);
  REQUIRE(reader.ok());
  REQUIRE(reader->next_user());
  REQUIRE(reader->next_user());
  CHECK(reader->user_key() == kSeven);
  REQUIRE(reader->next_event());
  CHECK(reader->event().item == item_hash("v1"));
  CHECK_FALSE(reader->next_user());
}

TEST_CASE("event block: opening it tells how many forgets it has and when the newest play happened") {
  const std::vector<Added> events = {{kFeedU1, play("v1", kTimeMs)},
                                     {kSeven, {EventKind::kForget, item_hash("v1"), kTimeMs + 50}},
                                     {kSeven, play("v2", kTimeMs + 7)},
                                     {kSeven, {EventKind::kServe, item_hash("v3"), kTimeMs + 60}}};
  const std::string bytes = block_of(events);
  const EventBlockReader block = EventBlockReader::open(bytes, kPartition, kPartitionCount).value();
  CHECK(block.forgets() == 1);
  CHECK(block.newest_play_ms() == kTimeMs + 7);
  const std::string forget = block_of({events[1]});
  CHECK(EventBlockReader::open(forget, kPartition, kPartitionCount)->newest_play_ms() == 0);
}

TEST_CASE("event block: a builder is empty after it has finished, and gives the same bytes again") {
  EventBlockBuilder builder;
  for (int round = 0; round < 3; ++round) {
    CHECK(builder.events() == 0);
    builder.add(kFeedU1, play("v1", kTimeMs));
    builder.add(kSeven, play("v1", kTimeMs - 3'123));
    builder.add(kFeedU1, play("v2", kTimeMs + 1'176'877));
    CHECK(builder.events() == 3);
    CHECK(builder.finish(kPartition, kPartitionCount) == sample());
  }
}

TEST_CASE("event block: random events come back, and the bound on bytes holds") {
  std::mt19937_64 rng(1);
  EventBlockBuilder builder;
  for (int round = 0; round < rounds(50); ++round) {
    std::map<std::string, std::vector<Event>> expected;
    const size_t count = 1 + rng() % 3000;
    for (size_t i = 0; i < count; ++i) {
      const std::string key =
          key_of(std::string(rng() % 129, 's'), std::to_string(rng() % 200) + std::string(rng() % 100, 'u'));
      const auto span = static_cast<uint64_t>(kEventTimeEndMs - kEventTimeMinMs);
      const Event event{static_cast<EventKind>(1 + rng() % kEventKindMax), ItemHash(rng()),
                        kEventTimeMinMs + static_cast<int64_t>(rng() % span)};
      builder.add(key, event);
      expected[key].push_back(event);
    }
    const size_t bytes_max = builder.bytes_max();
    const std::string bytes = builder.finish(PartitionId(0), 1);
    REQUIRE(bytes.size() <= bytes_max);
    auto reader = EventBlockReader::open(bytes, PartitionId(0), 1);
    REQUIRE(reader.ok());
    REQUIRE(reader->events() == count);
    while (reader->next_user()) {
      const auto found = expected.find(std::string(reader->user_key()));
      REQUIRE(found != expected.end());
      for (const Event& event : found->second) {
        REQUIRE(reader->next_event());
        REQUIRE(reader->event().kind == event.kind);
        REQUIRE(reader->event().item == event.item);
        REQUIRE(reader->event().time_ms == event.time_ms);
      }
      REQUIRE_FALSE(reader->next_event());
      expected.erase(found);
    }
    REQUIRE(expected.empty());
  }
}

TEST_CASE("event block: every flipped bit and every missing byte is refused") {
  for_each_damage(sample(), [](const std::string& bad) { REQUIRE(opened(bad) == Code::kBadRecord); });
}

TEST_CASE("event block: a record of another kind, version, flag, partition or partition count is refused") {
  CHECK(opened(with_one_event({})) == Code::kOk);
  CHECK(opened(with_one_event({.kind = 0xB1})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.version = 0})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.version = 2})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.flags = 1})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.count = 4})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.partition = 1})) == Code::kBadRecord);
  const std::string block = sample(), later = with_one_event({.version = 2});
  CHECK(EventBlockReader::open(block, PartitionId(1), kPartitionCount).code() == Code::kBadRecord);
  CHECK(EventBlockReader::open(block, kPartition, 4).code() == Code::kBadRecord);
  CHECK_THAT(EventBlockReader::open(later, kPartition, kPartitionCount).status().message(),
             Catch::Contains("version 2"));
}

TEST_CASE("event block: a user whose shard belongs to another partition is refused") {
  // Shard 2051 lies in partition 1 of 4, shard 1466 as well; so neither is in partition 0.
  const std::string foreign = with_one_event({.count = 4, .partition = 0});
  CHECK(EventBlockReader::open(foreign, PartitionId(0), 4).code() == Code::kBadRecord);
  const std::string home = with_one_event({.count = 4, .partition = 1});
  CHECK(EventBlockReader::open(home, PartitionId(1), 4).code() == Code::kOk);
}

TEST_CASE("event block: times from 2000 up to 2100 are taken, others are refused") {
  constexpr auto kMin = static_cast<uint64_t>(kEventTimeMinMs), kEnd = static_cast<uint64_t>(kEventTimeEndMs);
  CHECK(opened(with_one_event({.base = kMin})) == Code::kOk);
  CHECK(opened(with_one_event({.base = kEnd - 1})) == Code::kOk);
  CHECK(opened(with_one_event({.base = kMin}, 1, kEnd - kMin - 1)) == Code::kOk);
  CHECK(opened(with_one_event({.base = kMin - 1})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.base = kEnd})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.base = UINT64_MAX})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.base = kMin}, 1, kEnd - kMin)) == Code::kBadRecord);
  CHECK(opened(with_one_event({.base = kMin}, 1, UINT64_MAX)) == Code::kBadRecord);
}

TEST_CASE("event block: an event of an unknown kind is refused") {
  for (uint64_t kind = 1; kind <= kEventKindMax; ++kind) CHECK(opened(with_one_event({}, kind)) == Code::kOk);
  CHECK(opened(with_one_event({}, 0)) == Code::kBadRecord);
  CHECK(opened(with_one_event({}, kEventKindMax + 1)) == Code::kBadRecord);
  CHECK(opened(with_one_event({}, 255)) == Code::kBadRecord);
}

TEST_CASE("event block: a block without users, a user without events and totals that differ are refused") {
  CHECK(opened(forged({.users = 0, .events = 0}).sealed(kEventBlockKind)) == Code::kBadRecord);
  CHECK(opened(forged({.events = 0}).bytes(kSeven).varint(0).sealed(kEventBlockKind)) == Code::kBadRecord);
  CHECK(opened(with_one_event({.events = 2})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.users = 2})) == Code::kBadRecord);
  CHECK(opened(with_one_event({.users = UINT64_MAX})) == Code::kBadRecord);
  CHECK(opened(forged({}).bytes(kSeven).varint(UINT64_MAX).u8(1).u64(42).varint(0).sealed(kEventBlockKind)) ==
        Code::kBadRecord);
}

TEST_CASE("event block: a user key that no user can have is refused") {
  CHECK(opened(with_key(key_of("", std::string(128, 'u')))) == Code::kOk);
  for (const std::string& key : {std::string(), std::string(1, '\0'),
                                 std::string("\x04"
                                             "feed"),
                                 std::string("\x05"
                                             "feed"),
                                 '\x81' + std::string(129, 's') + "u", std::string(1, '\0') + std::string(129, 'u')}) {
    INFO(hex(key));
    const std::string bytes = with_key(key);
    const auto result = EventBlockReader::open(bytes, kPartition, kPartitionCount);
    REQUIRE(result.code() == Code::kBadRecord);
    CHECK_THAT(result.status().message(), Catch::Contains("user key"));
  }
}

TEST_CASE("event block: bytes behind the last event and numbers longer than needed are refused") {
  CHECK(opened(resealed(sample(), kEventBlockKind, [](std::string& body) { body.push_back('\0'); })) ==
        Code::kBadRecord);
  CHECK(opened(forged({}).bytes(kSeven).varint(1).u8(1).u64(42).long_varint(7).sealed(kEventBlockKind)) ==
        Code::kBadRecord);
  CHECK(opened(forged({}).bytes(kSeven).long_varint(1).u8(1).u64(42).varint(7).sealed(kEventBlockKind)) ==
        Code::kBadRecord);
  const Head head;
  const std::string long_count = Forgery()
                                     .u8(head.kind)
                                     .u8(head.version)
                                     .u8(0)
                                     .long_varint(head.count)
                                     .varint(0)
                                     .varint(head.base)
                                     .varint(1)
                                     .varint(1)
                                     .bytes(kSeven)
                                     .varint(1)
                                     .u8(1)
                                     .u64(42)
                                     .varint(0)
                                     .sealed(kEventBlockKind);
  CHECK(opened(long_count) == Code::kBadRecord);
}

TEST_CASE("event block: random bytes under a checksum that fits are read without harm") {
  std::mt19937_64 rng(2);
  for (int round = 0; round < 20'000; ++round) {
    const std::string bad = resealed(sample(), kEventBlockKind, [&](std::string& body) {
      for (size_t i = 0; i <= rng() % 3; ++i) body[rng() % body.size()] = static_cast<char>(rng());
      if (rng() % 4 == 0) body.resize(rng() % body.size());
    });
    auto reader = EventBlockReader::open(bad, kPartition, kPartitionCount);
    if (!reader.ok()) continue;
    uint64_t events = 0;
    while (reader->next_user()) {
      while (reader->next_event()) ++events;
    }
    REQUIRE(events == reader->events());
  }
}
