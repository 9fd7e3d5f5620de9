#include "schemas/user_batch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "base/hash.h"
#include "schemas/event.h"
#include "tests/schemas/documented_example.h"
#include "tests/schemas/forgery.h"

using namespace bloomring;

namespace {

constexpr uint32_t kPartitionCount = 2;
constexpr PartitionId kPartition(0);
constexpr uint64_t kQuarter = 1'832'572;  // Holds 2022-04-07 07:00:23 UTC.
constexpr uint64_t kFirstQuarter = kEventTimeMinMs / kQuarterMs, kEndQuarter = kEventTimeEndMs / kQuarterMs;

const std::string kFeedU1 = key_of("feed", "u1");  // Shard 2051.
const std::string kSeven = key_of("", "7");        // Shard 1466.

DrainHeader header(int64_t from = 1000, int64_t to = 1500, DrainAttempt attempt = DrainAttempt::kFirst) {
  return {kPartition, kPartitionCount, {Offset(from), Offset(to)}, attempt};
}

DrainedPlay drained(uint64_t quarter, std::string_view item) { return {QuarterIndex(static_cast<int64_t>(quarter)), item_hash(item)}; }

std::string sample() {
  UserBatchBuilder builder;
  builder.add(kFeedU1, std::vector{drained(kQuarter, "v1"), drained(kQuarter + 1, "v2")});
  builder.add(kSeven, std::vector{drained(kQuarter, "v1")});
  return builder.finish(header());
}

SlotEnd sample_end() { return {header(), {{HourIndex(458'143), {Offset(1000), Offset(1500)}}}, 2, 3, 1}; }

Code decoded(const std::string& bytes) { return decode_batch_record(bytes, kPartition, kPartitionCount).code(); }

struct Head {
  uint64_t kind = kUserBatchKind, version = kBatchVersion, attempt = 1, count = kPartitionCount, partition = 0;
  uint64_t from = 1000, to = 1500;
};

Forgery forged(const Head& head) {
  return Forgery().u8(head.kind).u8(head.version).u8(head.attempt).varint(head.count).varint(head.partition).varint(head.from).varint(head.to);
}

std::string with_one_play(const Head& head, uint64_t quarter = kQuarter) {
  return forged(head).varint(1).bytes(kSeven).varint(1).varint(quarter).varint(1).u64(42).sealed(kUserBatchKind);
}

// One user whose quarters and items are what `rest` writes.
std::string with_user(const Forgery& rest_of_record) { return rest_of_record.sealed(kUserBatchKind); }
Forgery user_of(std::string_view key, uint64_t users = 1) { return forged({}).varint(users).bytes(key); }

std::string end_with(const Head& head, const std::vector<DrainedHour>& hours) {
  Forgery forgery = forged(head);
  forgery.varint(hours.size());
  for (const DrainedHour& hour : hours) {
    forgery.varint(static_cast<uint64_t>(hour.hour.value)).varint(static_cast<uint64_t>(hour.range.from.value)).varint(static_cast<uint64_t>(hour.range.to.value));
  }
  return forgery.varint(2).varint(3).varint(1).sealed(kSlotEndKind);
}

DrainedHour hour(int64_t number, int64_t from, int64_t to) { return {HourIndex(number), {Offset(from), Offset(to)}}; }

}  // namespace

TEST_CASE("user batches: their bytes are those of the document") {
  CHECK(hex(sample()) == hex(documented_example("User batches, version 1")));
}

TEST_CASE("slot end: its bytes are those of the document") {
  CHECK(hex(encode_slot_end(sample_end())) == hex(documented_example("Slot end, version 1")));
}

TEST_CASE("user batches: users, quarters and items come back as they went in") {
  std::mt19937_64 rng(1);
  UserBatchBuilder builder;
  for (int round = 0; round < 50; ++round) {
    std::map<std::string, std::set<DrainedPlay>> expected;
    const size_t count = 1 + rng() % 2000;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = key_of(rng() % 2 == 0 ? "" : "feed", std::to_string(rng() % 300));
      expected[key].insert({QuarterIndex(static_cast<int64_t>(kFirstQuarter + rng() % (kEndQuarter - kFirstQuarter))), ItemHash(rng() % 50)});
      const int64_t same = static_cast<int64_t>(kQuarter + rng() % 2);
      expected[key].insert({QuarterIndex(same), ItemHash(rng())});
    }
    for (const auto& [key, plays] : expected) builder.add(key, std::vector<DrainedPlay>(plays.begin(), plays.end()));
    REQUIRE(builder.users() == expected.size());
    const DrainHeader head{PartitionId(0), 1, {Offset(round), Offset(1'000'000'000'000)}, DrainAttempt::kLap};
    const std::string bytes = builder.finish(head);
    REQUIRE(builder.users() == 0);
    REQUIRE(builder.bytes() == 0);

    auto reader = UserBatchReader::open(bytes, PartitionId(0), 1);
    REQUIRE(reader.ok());
    REQUIRE(reader->header() == head);
    std::vector<ItemHash> items;
    for (const auto& [key, plays] : expected) {
      REQUIRE(reader->next_user());
      REQUIRE(reader->user_key() == key);
      std::vector<DrainedPlay> found;
      for (QuarterIndex quarter; reader->next_quarter(quarter, items);) {
        REQUIRE(std::is_sorted(items.begin(), items.end()));
        for (const ItemHash item : items) found.push_back({quarter, item});
      }
      REQUIRE(std::equal(found.begin(), found.end(), plays.begin(), plays.end()));
    }
    REQUIRE_FALSE(reader->next_user());
  }
}

TEST_CASE("user batches: moving to the next user skips what is left of the one before") {
  const std::string bytes = sample();
  auto reader = UserBatchReader::open(bytes, kPartition, kPartitionCount);
  REQUIRE(reader.ok());
  REQUIRE(reader->next_user());
  REQUIRE(reader->next_user());
  CHECK(reader->user_key() == kSeven);
  std::vector<ItemHash> items;
  QuarterIndex quarter;
  REQUIRE(reader->next_quarter(quarter, items));
  CHECK(quarter == QuarterIndex(kQuarter));
  CHECK(items == std::vector{item_hash("v1")});
  CHECK_FALSE(reader->next_quarter(quarter, items));
  CHECK_FALSE(reader->next_user());
}

TEST_CASE("slot end: it comes back as it went in, several hours of a lap too") {
  const SlotEnd lap{header(1000, 9000, DrainAttempt::kLap), {hour(7, 1000, 1500), hour(13, 1500, 1501), hour(19, 8000, 9000)}, 0, 0, 0};
  for (const SlotEnd& end : {sample_end(), lap}) {
    const auto record = decode_batch_record(encode_slot_end(end), kPartition, kPartitionCount);
    REQUIRE(record.ok());
    REQUIRE(std::holds_alternative<SlotEnd>(*record));
    CHECK(std::get<SlotEnd>(*record) == end);
  }
}

TEST_CASE("batch record: which of the two it is is told by its first byte") {
  const std::string batches = sample();
  const auto record = decode_batch_record(batches, kPartition, kPartitionCount);
  REQUIRE(record.ok());
  CHECK(std::holds_alternative<UserBatchReader>(*record));
  CHECK(decoded("") == Code::kBadRecord);
  CHECK(decoded(forged({.kind = 0xB3}).varint(1).sealed(0xB3)) == Code::kBadRecord);
}

TEST_CASE("user batches: every flipped bit and every missing byte is refused") {
  for_each_damage(sample(), [](const std::string& bad) { REQUIRE(decoded(bad) == Code::kBadRecord); });
}

TEST_CASE("slot end: every flipped bit and every missing byte is refused") {
  for_each_damage(encode_slot_end(sample_end()), [](const std::string& bad) { REQUIRE(decoded(bad) == Code::kBadRecord); });
}

TEST_CASE("batch record: another version, attempt, partition or partition count and an empty range are refused") {
  const std::vector<Head> wrong = {{.version = 0},   {.version = 2},   {.attempt = 0},  {.attempt = 4},
                                   {.count = 4},     {.partition = 1}, {.to = 1000},    {.to = 999},
                                   {.from = 1ull << 63}, {.to = 1ull << 63}};
  CHECK(decoded(with_one_play({})) == Code::kOk);
  CHECK(decoded(end_with({.kind = kSlotEndKind}, {hour(1, 1000, 1500)})) == Code::kOk);
  for (Head head : wrong) {
    INFO("version " << head.version << " attempt " << head.attempt << " count " << head.count << " partition " << head.partition
                    << " range " << head.from << " to " << head.to);
    CHECK(decoded(with_one_play(head)) == Code::kBadRecord);
    head.kind = kSlotEndKind;
    CHECK(decoded(end_with(head, {hour(1, 1000, 1500)})) == Code::kBadRecord);
  }
}

TEST_CASE("user batches: a user of another partition is refused") {
  CHECK(UserBatchReader::open(with_one_play({.count = 4}), PartitionId(0), 4).code() == Code::kBadRecord);
  CHECK(UserBatchReader::open(with_one_play({.count = 4, .partition = 1}), PartitionId(1), 4).code() == Code::kOk);
}

TEST_CASE("user batches: quarters from 2000 up to 2100 are taken, others are refused") {
  CHECK(decoded(with_one_play({}, kFirstQuarter)) == Code::kOk);
  CHECK(decoded(with_one_play({}, kEndQuarter - 1)) == Code::kOk);
  CHECK(decoded(with_one_play({}, kFirstQuarter - 1)) == Code::kBadRecord);
  CHECK(decoded(with_one_play({}, 0)) == Code::kBadRecord);
  CHECK(decoded(with_one_play({}, kEndQuarter)) == Code::kBadRecord);
  CHECK(decoded(with_one_play({}, UINT64_MAX)) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(2).varint(kQuarter).varint(1).u64(1).varint(kEndQuarter - kQuarter).varint(1).u64(1))) == Code::kBadRecord);
}

TEST_CASE("user batches: quarters that repeat and items that repeat or descend are refused") {
  CHECK(decoded(with_user(user_of(kSeven).varint(2).varint(kQuarter).varint(1).u64(1).varint(1).varint(1).u64(1))) == Code::kOk);
  CHECK(decoded(with_user(user_of(kSeven).varint(2).varint(kQuarter).varint(1).u64(1).varint(0).varint(1).u64(1))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(2).u64(1).u64(2))) == Code::kOk);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(2).u64(1).u64(1))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(2).u64(2).u64(1))) == Code::kBadRecord);
}

TEST_CASE("user batches: empty groups and counts that cannot be are refused") {
  CHECK(decoded(forged({}).varint(0).sealed(kUserBatchKind)) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(0))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(0))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven, 2).varint(1).varint(kQuarter).varint(1).u64(1))) == Code::kBadRecord);
  for (const uint64_t count : {uint64_t{2}, uint64_t{1} << 61, UINT64_MAX}) {
    CHECK(decoded(with_user(user_of(kSeven).varint(count).varint(kQuarter).varint(1).u64(1))) == Code::kBadRecord);
    CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(count).u64(1))) == Code::kBadRecord);
    CHECK(decoded(with_user(user_of(kSeven, count).varint(1).varint(kQuarter).varint(1).u64(1))) == Code::kBadRecord);
  }
}

TEST_CASE("user batches: a user key that no user can have is refused") {
  for (const std::string& key : {std::string(), std::string(1, '\0'), std::string("\x04" "feed"), std::string(1, '\0') + std::string(129, 'u')}) {
    const auto result = decode_batch_record(with_user(user_of(key).varint(1).varint(kQuarter).varint(1).u64(1)), kPartition, kPartitionCount);
    REQUIRE(result.code() == Code::kBadRecord);
    CHECK_THAT(result.status().message(), Catch::Contains("user key"));
  }
}

TEST_CASE("user batches: bytes behind the last item and numbers longer than needed are refused") {
  CHECK(decoded(resealed(sample(), kUserBatchKind, [](std::string& body) { body.push_back('\0'); })) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).long_varint(1).varint(kQuarter).varint(1).u64(1))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).long_varint(kQuarter).varint(1).u64(1))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).long_varint(1).u64(1))) == Code::kBadRecord);
}

TEST_CASE("slot end: hours are at least one, not empty, ascending, disjoint and within the drained range") {
  const Head head{.kind = kSlotEndKind};
  CHECK(decoded(end_with(head, {hour(1, 1000, 1200), hour(7, 1200, 1500)})) == Code::kOk);
  CHECK(decoded(end_with(head, {})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(1, 1000, 1000)})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(1, 999, 1500)})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(1, 1000, 1501)})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(1, 1000, 1200), hour(7, 1199, 1500)})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(1, 1200, 1500), hour(7, 1000, 1200)})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(7, 1000, 1200), hour(7, 1200, 1500)})) == Code::kBadRecord);
  CHECK(decoded(end_with(head, {hour(7, 1000, 1200), hour(1, 1200, 1500)})) == Code::kBadRecord);
}

TEST_CASE("slot end: counts that cannot be and bytes behind its end are refused") {
  const std::string good = encode_slot_end(sample_end());
  CHECK(decoded(resealed(good, kSlotEndKind, [](std::string& body) { body.push_back('\0'); })) == Code::kBadRecord);
  CHECK(decoded(forged({.kind = kSlotEndKind}).varint(UINT64_MAX).sealed(kSlotEndKind)) == Code::kBadRecord);
  const auto one_hour = [] { return forged({.kind = kSlotEndKind}).varint(1).varint(1).varint(1000).varint(1500); };
  CHECK(decoded(one_hour().varint(1).varint(1).varint(1).sealed(kSlotEndKind)) == Code::kOk);
  CHECK(decoded(one_hour().varint(1).varint(1).sealed(kSlotEndKind)) == Code::kBadRecord);
  CHECK(decoded(one_hour().varint(1).varint(1).long_varint(1).sealed(kSlotEndKind)) == Code::kBadRecord);
}

TEST_CASE("batch record: random bytes under a checksum that fits are read without harm") {
  std::mt19937_64 rng(2);
  std::vector<ItemHash> items;
  for (int round = 0; round < 20'000; ++round) {
    const bool end = round % 2 == 0;
    const std::string bad = resealed(end ? encode_slot_end(sample_end()) : sample(), end ? kSlotEndKind : kUserBatchKind, [&](std::string& body) {
      for (size_t i = 0; i <= rng() % 3; ++i) body[rng() % body.size()] = static_cast<char>(rng());
      if (rng() % 4 == 0) body.resize(rng() % body.size());
    });
    auto record = decode_batch_record(bad, kPartition, kPartitionCount);
    if (!record.ok() || !std::holds_alternative<UserBatchReader>(*record)) continue;
    auto& reader = std::get<UserBatchReader>(*record);
    while (reader.next_user()) {
      for (QuarterIndex quarter; reader.next_quarter(quarter, items);) REQUIRE_FALSE(items.empty());
    }
  }
}
