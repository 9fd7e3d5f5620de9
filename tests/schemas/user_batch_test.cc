#include "schemas/user_batch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "base/hash.h"
#include "schemas/event.h"
#include "tests/schemas/documented_example.h"
#include "tests/schemas/forgery.h"

using namespace bloomring;

// Bytes that would be gone at the end of the statement do not compile.
template <typename Bytes>
concept Readable = requires(Bytes bytes) { UserBatchReader::open(std::forward<Bytes>(bytes), PartitionId(0), 1); };
template <typename Bytes>
concept Decodable = requires(Bytes bytes) { decode_batch_record(std::forward<Bytes>(bytes), PartitionId(0), 1); };
static_assert(Readable<const std::string&> && Readable<std::string_view>);
static_assert(Decodable<const std::string&> && Decodable<std::string_view>);
static_assert(!Readable<std::string> && !Readable<const std::string>);
static_assert(!Decodable<std::string> && !Decodable<const std::string>);

namespace {

constexpr uint32_t kPartitionCount = 2;
constexpr PartitionId kPartition(0);
constexpr uint64_t kQuarter = 1'832'572;  // Holds 2022-04-07 07:00:23 UTC.
constexpr uint64_t kFirstQuarter = kEventTimeMinMs / kQuarterMs, kEndQuarter = kEventTimeEndMs / kQuarterMs;

const std::string kFeedU1 = key_of("feed", "u1");  // Shard 2051.
const std::string kSeven = key_of("", "7");        // Shard 1466.

DrainHeader header(int64_t from = 1000, int64_t to = 1500, DrainAttempt attempt = DrainAttempt::kFirst) {
  return {kPartition, kPartitionCount, {Offset(from), Offset(to)}, attempt, 0x1f3a5c07};
}

DrainedPlay drained(uint64_t quarter, uint32_t ms, std::string_view item) {
  return {static_cast<uint32_t>(quarter), ms, item_hash(item)};
}

constexpr int64_t kForgottenMs = 1'649'316'000'000;  // 2022-04-07 07:20 UTC.
Forget forget_item(std::string_view item) { return {false, false, item_hash(item), kForgottenMs, Offset(1200)}; }

std::string sample() {
  UserBatchBuilder builder;
  builder.add(kFeedU1, std::vector{forget_item("v1")},
              std::vector{drained(kQuarter, 23'123, "v1"), drained(kQuarter + 1, 300'000, "v2")});
  builder.add(kSeven, {}, std::vector{drained(kQuarter, 20'000, "v1")});
  return builder.finish(header());
}

// Inserts unless the item is in the quarter already.
void insert(std::set<DrainedPlay>& plays, const DrainedPlay& play) {
  for (const DrainedPlay& other : plays) {
    if (other.quarter == play.quarter && other.item == play.item) return;
  }
  plays.insert(play);
}

// The part of one user in a record.
struct UserContent {
  std::set<DrainedPlay> plays;
  std::map<std::tuple<bool, bool, uint64_t>, Forget> forgotten;

  void forget(std::mt19937_64& rng) {
    const bool everything = rng() % 4 == 0, late = rng() % 2 == 0;
    const ItemHash item(everything ? 0 : rng());
    const auto time_ms = kEventTimeMinMs + static_cast<int64_t>(rng() % (kEventTimeEndMs - kEventTimeMinMs));
    forgotten[{everything, late, item.value}] = {everything, late, item, time_ms,
                                                 Offset(static_cast<int64_t>(rng() % 1000))};
  }
  std::vector<Forget> forgets() const {
    std::vector<Forget> list;
    for (const auto& [order, forget] : forgotten) list.push_back(forget);
    return list;
  }
};

// That of the document, under its key.
constexpr SumKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
SlotEnd sample_end() {
  SlotEnd end{header(), {{HourIndex(458'143), {Offset(1000), Offset(1500)}}}, 2, 3, 1, record_digest(sample())};
  end.keyed_sum = slot_end_sum(end, kKey);
  return end;
}

Code decoded(const std::string& bytes) { return decode_batch_record(bytes, kPartition, kPartitionCount).code(); }

struct Head {
  uint64_t kind = kUserBatchKind, version = kUserBatchVersion, attempt = 1, count = kPartitionCount, partition = 0;
  uint64_t from = 1000, to = 1500;
};

Forgery forged(const Head& head) {
  return Forgery()
      .u8(head.kind)
      .u8(head.version)
      .u8(head.attempt)
      .varint(head.count)
      .varint(head.partition)
      .varint(head.from)
      .varint(head.to)
      .raw(std::string_view("\0\0\0\0", 4));
}

std::string with_one_play(const Head& head, uint64_t quarter = kQuarter) {
  return forged(head).varint(1).bytes(kSeven).varint(0).varint(1).varint(quarter).varint(1).u64(42).varint(0).sealed(
      kUserBatchKind);
}

// One user whose quarters and items are what `rest` writes.
std::string with_user(const Forgery& rest_of_record) { return rest_of_record.sealed(kUserBatchKind); }
// A user without forgets; its quarters follow.
Forgery user_of(std::string_view key, uint64_t users = 1) { return forged({}).varint(users).bytes(key).varint(0); }

// A slot end of version 2, unless the head says otherwise.
std::string end_with(const Head& head, const std::vector<DrainedHour>& hours) {
  Forgery forgery = forged(head);
  forgery.varint(hours.size());
  for (const DrainedHour& hour : hours) {
    forgery.varint(static_cast<uint64_t>(hour.hour.value))
        .varint(static_cast<uint64_t>(hour.range.from.value))
        .varint(static_cast<uint64_t>(hour.range.to.value));
  }
  forgery.varint(2).varint(3).varint(1);
  if (head.version == kSlotEndVersion) forgery.u64(7).u64(8);
  return forgery.sealed(kSlotEndKind);
}

DrainedHour hour(int64_t number, int64_t from, int64_t to) { return {HourIndex(number), {Offset(from), Offset(to)}}; }

}  // namespace

TEST_CASE("user batches: their bytes are those of the document") {
  CHECK(hex(sample()) == hex(documented_example("User batches, version 2")));
}

TEST_CASE("slot end: its bytes are those of the document") {
  CHECK(hex(encode_slot_end(sample_end())) == hex(documented_example("Slot end, version 3")));
  CHECK(encode_slot_end(sample_end(), kKey) == encode_slot_end(sample_end()));
}

TEST_CASE("slot end: one of version 2 is read, and has neither digest nor keyed sum") {
  SlotEnd old = sample_end();
  old.version = kSlotEndVersionWithoutSum;
  old.digest = old.keyed_sum = 0;
  const std::string bytes = documented_example("Slot end, version 2");
  CHECK(hex(encode_slot_end(old)) == hex(bytes));
  const auto record = decode_batch_record(bytes, kPartition, kPartitionCount);
  REQUIRE(record.ok());
  CHECK(std::get<SlotEnd>(*record) == old);
}

TEST_CASE("slot end: its keyed sum is of everything that it says, and of its key") {
  const SlotEnd end = sample_end();
  const auto changed = [&](const std::function<void(SlotEnd&)>& change) {
    SlotEnd other = end;
    change(other);
    return slot_end_sum(other, kKey) != end.keyed_sum;
  };
  CHECK(slot_end_sum(end, {kKey.low, kKey.high + 1}) != end.keyed_sum);
  CHECK(changed([](SlotEnd& other) { other.header.partition = PartitionId(1); }));
  CHECK(changed([](SlotEnd& other) { other.header.partition_count = 4; }));
  CHECK(changed([](SlotEnd& other) { other.header.range.to = Offset(1501); }));
  CHECK(changed([](SlotEnd& other) { other.header.attempt = DrainAttempt::kLap; }));
  CHECK(changed([](SlotEnd& other) { ++other.header.forgets_digest; }));
  CHECK(changed([](SlotEnd& other) { other.hours[0].hour = HourIndex(1); }));
  CHECK(changed([](SlotEnd& other) { other.hours[0].range.from = Offset(1001); }));
  CHECK(changed([](SlotEnd& other) { ++other.users; }));
  CHECK(changed([](SlotEnd& other) { ++other.plays; }));
  CHECK(changed([](SlotEnd& other) { ++other.records; }));
  CHECK(changed([](SlotEnd& other) { ++other.digest; }));
  CHECK_FALSE(changed([](SlotEnd& other) { ++other.keyed_sum; }));
}

TEST_CASE("user batches: users, quarters and items come back as they went in") {
  std::mt19937_64 rng(1);
  UserBatchBuilder builder;
  for (int round = 0; round < 50; ++round) {
    std::map<std::string, UserContent> expected;
    const size_t count = 1 + rng() % 2000;
    for (size_t i = 0; i < count; ++i) {
      const std::string key = key_of(rng() % 2 == 0 ? "" : "feed", std::to_string(rng() % 300));
      const auto quarter = static_cast<uint32_t>(kFirstQuarter + rng() % (kEndQuarter - kFirstQuarter));
      insert(expected[key].plays, {quarter, static_cast<uint32_t>(rng() % kQuarterMs), ItemHash(rng() % 50)});
      const auto same = static_cast<uint32_t>(kQuarter + rng() % 2);
      insert(expected[key].plays, {same, static_cast<uint32_t>(rng() % kQuarterMs), ItemHash(rng())});
      if (rng() % 10 == 0) expected[key].forget(rng);
    }
    for (const auto& [key, user] : expected)
      builder.add(key, user.forgets(), std::vector<DrainedPlay>(user.plays.begin(), user.plays.end()));
    REQUIRE(builder.users() == expected.size());
    const DrainHeader head{PartitionId(0), 1, {Offset(round), Offset(1'000'000'000'000)}, DrainAttempt::kLap};
    const std::string bytes = builder.finish(head);
    REQUIRE(builder.users() == 0);
    REQUIRE(builder.bytes() == 0);

    auto reader = UserBatchReader::open(bytes, PartitionId(0), 1);
    REQUIRE(reader.ok());
    REQUIRE(reader->header() == head);
    std::vector<ItemHash> items;
    std::vector<int64_t> times_ms;
    for (const auto& [key, user] : expected) {
      REQUIRE(reader->next_user());
      REQUIRE(reader->user_key() == key);
      REQUIRE(reader->forgets() == user.forgets());
      std::vector<DrainedPlay> found;
      for (QuarterIndex quarter; reader->next_quarter(quarter, items, times_ms);) {
        REQUIRE(std::is_sorted(items.begin(), items.end()));
        for (size_t i = 0; i < items.size(); ++i) {
          found.push_back(DrainedPlay::at(times_ms[i], items[i]));
          REQUIRE(found.back().quarter == quarter.value);
        }
      }
      REQUIRE(std::equal(found.begin(), found.end(), user.plays.begin(), user.plays.end()));
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
  std::vector<int64_t> times_ms;
  REQUIRE(reader->next_quarter(quarter, items, times_ms));
  CHECK(times_ms == std::vector<int64_t>{kQuarter * kQuarterMs + 20'000});
  CHECK(quarter == QuarterIndex(kQuarter));
  CHECK(items == std::vector{item_hash("v1")});
  CHECK_FALSE(reader->next_quarter(quarter, items, times_ms));
  CHECK_FALSE(reader->next_user());
}

TEST_CASE("slot end: it comes back as it went in, several hours of a lap too") {
  const SlotEnd lap{header(1000, 9000, DrainAttempt::kLap),
                    {hour(7, 1000, 1500), hour(13, 1500, 1501), hour(19, 8000, 9000)},
                    0,
                    0,
                    0};
  SlotEnd old = lap;
  old.version = kSlotEndVersionWithoutSum;
  for (const SlotEnd& end : {sample_end(), lap, old}) {
    const std::string bytes = encode_slot_end(end);
    const auto record = decode_batch_record(bytes, kPartition, kPartitionCount);
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
  for_each_damage(encode_slot_end(sample_end()),
                  [](const std::string& bad) { REQUIRE(decoded(bad) == Code::kBadRecord); });
}

TEST_CASE("batch record: another version, attempt, partition or partition count and an empty range are refused") {
  const std::vector<Head> wrong = {{.version = 0}, {.version = 1},       {.version = 3},    {.attempt = 0},
                                   {.attempt = 4}, {.count = 4},         {.partition = 1},  {.to = 1000},
                                   {.to = 999},    {.from = 1ull << 63}, {.to = 1ull << 63}};
  CHECK(decoded(with_one_play({})) == Code::kOk);
  CHECK(decoded(end_with({.kind = kSlotEndKind}, {hour(1, 1000, 1500)})) == Code::kOk);
  for (Head head : wrong) {
    INFO("version " << head.version << " attempt " << head.attempt << " count " << head.count << " partition "
                    << head.partition << " range " << head.from << " to " << head.to);
    CHECK(decoded(with_one_play(head)) == Code::kBadRecord);
    head.kind = kSlotEndKind;
    if (head.version == kSlotEndVersion) head.version = 4;
    CHECK(decoded(end_with(head, {hour(1, 1000, 1500)})) == Code::kBadRecord);
  }
  CHECK(decoded(end_with({.kind = kSlotEndKind, .version = kSlotEndVersion}, {hour(1, 1000, 1500)})) == Code::kOk);
}

TEST_CASE("user batches: a user of another partition is refused") {
  const std::string home = with_one_play({.count = 4, .partition = 1}), foreign = with_one_play({.count = 4});
  CHECK(UserBatchReader::open(foreign, PartitionId(0), 4).code() == Code::kBadRecord);
  CHECK(UserBatchReader::open(home, PartitionId(1), 4).code() == Code::kOk);
}

TEST_CASE("user batches: quarters from 2000 up to 2100 are taken, others are refused") {
  CHECK(decoded(with_one_play({}, kFirstQuarter)) == Code::kOk);
  CHECK(decoded(with_one_play({}, kEndQuarter - 1)) == Code::kOk);
  CHECK(decoded(with_one_play({}, kFirstQuarter - 1)) == Code::kBadRecord);
  CHECK(decoded(with_one_play({}, 0)) == Code::kBadRecord);
  CHECK(decoded(with_one_play({}, kEndQuarter)) == Code::kBadRecord);
  CHECK(decoded(with_one_play({}, UINT64_MAX)) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven)
                              .varint(2)
                              .varint(kQuarter)
                              .varint(1)
                              .u64(1)
                              .varint(0)
                              .varint(kEndQuarter - kQuarter)
                              .varint(1)
                              .u64(1)
                              .varint(0))) == Code::kBadRecord);
}

TEST_CASE("user batches: quarters that repeat and items that repeat or descend are refused") {
  CHECK(decoded(with_user(
            user_of(kSeven).varint(2).varint(kQuarter).varint(1).u64(1).varint(0).varint(1).varint(1).u64(1).varint(
                0))) == Code::kOk);
  CHECK(decoded(with_user(
            user_of(kSeven).varint(2).varint(kQuarter).varint(1).u64(1).varint(0).varint(0).varint(1).u64(1).varint(
                0))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(2).u64(1).varint(0).u64(2).varint(0))) ==
        Code::kOk);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(2).u64(1).varint(0).u64(1).varint(0))) ==
        Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(2).u64(2).varint(0).u64(1).varint(0))) ==
        Code::kBadRecord);
}

TEST_CASE("user batches: a play's time lies in its quarter") {
  const auto with_ms = [](uint64_t ms) {
    return with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(1).u64(1).varint(ms));
  };
  CHECK(decoded(with_ms(kQuarterMs - 1)) == Code::kOk);
  CHECK(decoded(with_ms(kQuarterMs)) == Code::kBadRecord);
  CHECK(decoded(with_ms(UINT64_MAX)) == Code::kBadRecord);
}

TEST_CASE("user batches: forgets ascend by kind, lateness and item, and lie within times and offsets") {
  struct Entry {
    uint64_t rank, item, time_ms = kForgottenMs, offset = 1499;
  };
  const auto with_forgets = [](const std::vector<Entry>& entries) {
    Forgery record = forged({}).varint(1).bytes(kSeven).varint(entries.size());
    for (const Entry& entry : entries) {
      record.u8(entry.rank);
      if (entry.rank <= 2) record.u64(entry.item);
      record.varint(entry.time_ms).varint(entry.offset);
    }
    return decoded(with_user(record.varint(0)));
  };
  CHECK(with_forgets({{1, 5}, {1, 6}, {2, 5}, {3, 0}, {4, 0}}) == Code::kOk);
  CHECK(with_forgets({{4, 0}}) == Code::kOk);
  CHECK(with_forgets({}) == Code::kBadRecord);  // A user without anything.
  for (const uint64_t rank : {0, 5, 255}) CHECK(with_forgets({{rank, 0}}) == Code::kBadRecord);
  CHECK(with_forgets({{1, 5}, {1, 5}}) == Code::kBadRecord);
  CHECK(with_forgets({{1, 6}, {1, 5}}) == Code::kBadRecord);
  CHECK(with_forgets({{2, 5}, {1, 6}}) == Code::kBadRecord);
  CHECK(with_forgets({{3, 0}, {3, 0}}) == Code::kBadRecord);
  for (const Entry& about : {Entry{1, 5}, Entry{3, 0}}) {  // Several of the same: later ones were logged before.
    const auto then = [&](int64_t later_ms, uint64_t offset) {
      return with_forgets({about, {about.rank, about.item, kForgottenMs + static_cast<uint64_t>(later_ms), offset}});
    };
    CHECK(then(1, 1498) == Code::kOk);
    CHECK(then(1, 1499) == Code::kBadRecord);
    CHECK(then(0, 1498) == Code::kBadRecord);
    CHECK(then(-1, 1498) == Code::kBadRecord);
  }
  CHECK(with_forgets({{3, 0, kEventTimeMinMs}}) == Code::kOk);
  CHECK(with_forgets({{3, 0, kEventTimeMinMs - 1}}) == Code::kBadRecord);
  CHECK(with_forgets({{3, 0, kEventTimeEndMs}}) == Code::kBadRecord);
  CHECK(with_forgets({{3, 0, kForgottenMs, 0}}) == Code::kOk);  // Of an hour before the drained ones.
  CHECK(with_forgets({{3, 0, kForgottenMs, 1500}}) == Code::kBadRecord);
  CHECK(with_forgets({{3, 0, kForgottenMs, UINT64_MAX}}) == Code::kBadRecord);
}

TEST_CASE("user batches: empty groups and counts that cannot be are refused") {
  CHECK(decoded(forged({}).varint(0).sealed(kUserBatchKind)) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(0))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(0))) == Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven, 2).varint(1).varint(kQuarter).varint(1).u64(1).varint(0))) ==
        Code::kBadRecord);
  for (const uint64_t count : {uint64_t{2}, uint64_t{1} << 61, UINT64_MAX}) {
    CHECK(decoded(with_user(user_of(kSeven).varint(count).varint(kQuarter).varint(1).u64(1).varint(0))) ==
          Code::kBadRecord);
    CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).varint(count).u64(1).varint(0))) ==
          Code::kBadRecord);
    CHECK(decoded(with_user(user_of(kSeven, count).varint(1).varint(kQuarter).varint(1).u64(1).varint(0))) ==
          Code::kBadRecord);
  }
}

TEST_CASE("user batches: a user key that no user can have is refused") {
  for (const std::string& key : {std::string(), std::string(1, '\0'),
                                 std::string("\x04"
                                             "feed"),
                                 std::string(1, '\0') + std::string(129, 'u')}) {
    const std::string bytes = with_user(user_of(key).varint(1).varint(kQuarter).varint(1).u64(1).varint(0));
    const auto result = decode_batch_record(bytes, kPartition, kPartitionCount);
    REQUIRE(result.code() == Code::kBadRecord);
    CHECK_THAT(result.status().message(), Catch::Contains("user key"));
  }
}

TEST_CASE("user batches: bytes behind the last item and numbers longer than needed are refused") {
  CHECK(decoded(resealed(sample(), kUserBatchKind, [](std::string& body) { body.push_back('\0'); })) ==
        Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).long_varint(1).varint(kQuarter).varint(1).u64(1).varint(0))) ==
        Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).long_varint(kQuarter).varint(1).u64(1).varint(0))) ==
        Code::kBadRecord);
  CHECK(decoded(with_user(user_of(kSeven).varint(1).varint(kQuarter).long_varint(1).u64(1).varint(0))) ==
        Code::kBadRecord);
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
  CHECK(decoded(one_hour().varint(1).varint(1).varint(1).u64(7).u64(8).sealed(kSlotEndKind)) == Code::kBadRecord);
  CHECK(decoded(resealed(good, kSlotEndKind, [](std::string& body) { body.resize(body.size() - 8); })) ==
        Code::kBadRecord);
}

TEST_CASE("batch record: random bytes under a checksum that fits are read without harm") {
  std::mt19937_64 rng(2);
  std::vector<ItemHash> items;
  std::vector<int64_t> times_ms;
  for (int round = 0; round < 20'000; ++round) {
    const bool end = round % 2 == 0;
    const std::string bad = resealed(end ? encode_slot_end(sample_end()) : sample(),
                                     end ? kSlotEndKind : kUserBatchKind, [&](std::string& body) {
                                       for (size_t i = 0; i <= rng() % 3; ++i)
                                         body[rng() % body.size()] = static_cast<char>(rng());
                                       if (rng() % 4 == 0) body.resize(rng() % body.size());
                                     });
    auto record = decode_batch_record(bad, kPartition, kPartitionCount);
    if (!record.ok() || !std::holds_alternative<UserBatchReader>(*record)) continue;
    auto& reader = std::get<UserBatchReader>(*record);
    while (reader.next_user()) {
      for (QuarterIndex quarter; reader.next_quarter(quarter, items, times_ms);) REQUIRE_FALSE(items.empty());
    }
  }
}
