#include "schemas/forgotten.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <random>

#include "base/hash.h"
#include "schemas/event.h"
#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"
#include "tests/support/instrumented.h"

using namespace bloomring;

namespace {

constexpr int64_t kNoonMs = 1'795'262'400'000;
const std::string kKey = forgotten_key(UserKey("feed", "u1").bytes());
const ItemHash kA = item_hash("a"), kB = item_hash("b");

bool taken(Forgotten& forgotten, ItemHash item, int64_t time_ms) {
  bool changed = false;
  return forgotten.take_play(item, time_ms, changed);
}

// Bytes that no encoder would write, under a checksum that fits.
Code decoded(const std::function<void(ByteWriter&)>& write) {
  std::string bytes;
  ByteWriter writer(bytes);
  write(writer);
  writer.u64(hash_bytes(bytes, hash_bytes(kKey, 0)));
  return decode_forgotten(bytes, kKey).code();
}

}  // namespace

TEST_CASE("forgotten: of a value that cannot be read, what was added since is kept with the damage") {
  Forgotten sound;
  sound.forget_item(kA, kNoonMs);
  const std::string bytes = encode_forgotten(sound, kKey);
  REQUIRE(salvage_forgotten(bytes, kKey).value() == sound);
  for (const std::string& bad : {std::string(), std::string(1, '\0'), std::string("garbage"), bytes.substr(1)}) {
    auto salvaged = salvage_forgotten(bad, kKey);
    REQUIRE(salvaged.ok());
    CHECK(salvaged->damage().refused == 1);
    CHECK(salvaged->items().empty());
    CHECK_FALSE(salvaged->empty());
    REQUIRE(salvaged->forget_item(kB, kNoonMs));
    const std::string kept = encode_forgotten(*salvaged, kKey);
    CHECK(decode_forgotten(kept, kKey).code() == Code::kCorrupt);
    const auto again = salvage_forgotten(kept, kKey);
    CHECK(again->damage().refused == 1);
    CHECK(again->damage().reason == salvaged->damage().reason);
    CHECK(again->items() == salvaged->items());
    const auto worse = salvage_forgotten(kept.substr(0, kept.size() - 1), kKey);
    CHECK(worse->damage().refused == 2);
    CHECK(worse->items().empty());
  }
}

TEST_CASE("forgotten: a sound value of another version is nothing to salvage, since it would be replaced") {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.u8(2);
  writer.u64(hash_bytes(bytes, hash_bytes(kKey, 0)));
  const auto salvaged = salvage_forgotten(bytes, kKey);
  CHECK(salvaged.code() == Code::kCorrupt);
  CHECK_THAT(salvaged.status().message(), Catch::Contains("version 2"));
}

TEST_CASE("forgotten: plays up to the time of a forget do not count, later ones do") {
  Forgotten forgotten;
  CHECK(forgotten.empty());
  CHECK(forgotten.forget_item(kA, kNoonMs));
  CHECK_FALSE(taken(forgotten, kA, kNoonMs - 1));
  CHECK_FALSE(taken(forgotten, kA, kNoonMs));
  CHECK(taken(forgotten, kA, kNoonMs + 1));
  CHECK(taken(forgotten, kB, kNoonMs - 1));
  CHECK(forgotten.forget_everything(kNoonMs + 10));
  CHECK_FALSE(taken(forgotten, kB, kNoonMs + 10));
  CHECK(taken(forgotten, kB, kNoonMs + 11));
  CHECK(forgotten.items().empty());  // They say nothing more.
}

TEST_CASE("forgotten: a play after the forget is remembered until a later forget") {
  Forgotten forgotten;
  forgotten.forget_item(kA, kNoonMs);
  bool changed = false;
  CHECK(forgotten.take_play(kA, kNoonMs + 5, changed));
  CHECK(changed);
  changed = false;
  CHECK(forgotten.take_play(kA, kNoonMs + 3, changed));
  CHECK_FALSE(changed);
  CHECK(forgotten.find(kA)->played_ms == kNoonMs + 5);
  CHECK(forgotten.forget_item(kA, kNoonMs + 4));
  CHECK(forgotten.find(kA)->played_ms == kNoonMs + 5);
  CHECK(forgotten.forget_item(kA, kNoonMs + 5));
  CHECK(forgotten.find(kA)->played_ms == 0);
}

TEST_CASE("forgotten: changes in any order and number end in the same value") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    // Plays come after all forgets are known: that is the merge stage's guarantee.
    std::vector<std::function<void(Forgotten&)>> forgets, plays;
    for (int i = 0; i < 12; ++i) {
      const int64_t time_ms = kNoonMs + static_cast<int64_t>(random() % 20);
      const ItemHash item(random() % 4);
      if (random() % 8 == 0) {
        forgets.emplace_back([=](Forgotten& f) { f.forget_everything(time_ms); });
      } else if (random() % 2 == 0) {
        forgets.emplace_back([=](Forgotten& f) { f.forget_item(item, time_ms); });
      } else {
        plays.emplace_back([=](Forgotten& f) { taken(f, item, time_ms); });
      }
    }
    const auto shuffled = [&] {
      Forgotten forgotten;
      std::vector<std::function<void(Forgotten&)>> all = forgets;
      std::shuffle(all.begin(), all.end(), random);
      for (const auto& change : all) change(forgotten);
      std::vector<std::function<void(Forgotten&)>> rest = plays;
      rest.insert(rest.end(), all.begin(), all.end());  // And again.
      std::shuffle(rest.begin(), rest.end(), random);
      for (const auto& change : rest) change(forgotten);
      return forgotten;
    };
    const Forgotten once = shuffled();
    CHECK(shuffled() == once);
    CHECK(decode_forgotten(encode_forgotten(once, kKey), kKey).value() == once);
  }
}

TEST_CASE("forgotten: beyond its bound the items that were forgotten first are let go, and do not come back") {
  Forgotten forgotten;
  const auto count = static_cast<int64_t>(Forgotten::kItemsMax);
  for (int64_t i = 0; i < count + 10; ++i) forgotten.forget_item(ItemHash(static_cast<uint64_t>(i)), kNoonMs + i);
  CHECK(forgotten.items().size() == Forgotten::kItemsMax);
  CHECK(forgotten.floor_ms() == kNoonMs + 9);
  CHECK(taken(forgotten, ItemHash(9), kNoonMs));
  CHECK_FALSE(taken(forgotten, ItemHash(10), kNoonMs));
  CHECK_FALSE(forgotten.forget_item(ItemHash(9), kNoonMs + 9));
  CHECK(forgotten.forget_item(ItemHash(9), kNoonMs + count + 10));
  CHECK(encode_forgotten(forgotten, kKey).size() < 128'000);
}

TEST_CASE("forgotten: what has expired is let go") {
  Forgotten forgotten;
  forgotten.forget_everything(kNoonMs);
  forgotten.forget_item(kA, kNoonMs + 1);
  forgotten.forget_item(kB, kNoonMs + 2);
  CHECK(forgotten.newest_ms() == kNoonMs + 2);
  forgotten.expire([](int64_t time_ms) { return time_ms <= kNoonMs + 1; });
  CHECK(forgotten.everything_ms() == 0);
  CHECK(forgotten.find(kA) == nullptr);
  CHECK(forgotten.find(kB) != nullptr);
  forgotten.expire([](int64_t) { return true; });
  CHECK(forgotten.empty());
}

TEST_CASE("forgotten value: every flipped bit, every missing byte and another key are corrupt") {
  Forgotten forgotten;
  forgotten.forget_everything(kNoonMs);
  forgotten.forget_item(kA, kNoonMs + 1);
  taken(forgotten, kA, kNoonMs + 2);
  const std::string bytes = encode_forgotten(forgotten, kKey);
  REQUIRE(decode_forgotten(bytes, kKey).value() == forgotten);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    CHECK(decode_forgotten(bad, kKey).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK(decode_forgotten(bytes.substr(0, size), kKey).code() == Code::kCorrupt);
  const auto other = decode_forgotten(bytes, forgotten_key(UserKey("feed", "u2").bytes()));
  CHECK(other.code() == Code::kCorrupt);
  CHECK_THAT(other.status().message(), Catch::Contains("what user #"));
}

TEST_CASE("forgotten value: what the encoder would not write is corrupt, whatever its checksum") {
  constexpr uint64_t kNoon = kNoonMs;
  CHECK(decoded([](ByteWriter& w) { w.u8(1), w.varint(kNoon), w.varint(0), w.varint(0); }) == Code::kOk);
  CHECK(decoded([](ByteWriter& w) { w.u8(2), w.varint(kNoon), w.varint(0), w.varint(0); }) == Code::kCorrupt);
  CHECK(decoded([](ByteWriter& w) { w.u8(1), w.varint(kEventTimeEndMs), w.varint(0), w.varint(0); }) == Code::kCorrupt);
  CHECK(decoded([](ByteWriter& w) { w.u8(1), w.varint(0), w.varint(UINT64_MAX), w.varint(0); }) == Code::kCorrupt);
  CHECK(decoded([](ByteWriter& w) { w.u8(1), w.varint(0), w.varint(0), w.varint(0), w.u8(0); }) == Code::kCorrupt);
  CHECK(decoded([](ByteWriter& w) { w.u8(1), w.varint(0), w.varint(0), w.varint(5'000); }) == Code::kCorrupt);
  const auto items = [](uint64_t everything, uint64_t floor, std::vector<std::array<uint64_t, 3>> list) {
    return decoded([&](ByteWriter& w) {
      w.u8(1), w.varint(everything), w.varint(floor), w.varint(list.size());
      for (const auto& [item, time, played] : list) w.u64(item), w.varint(time), w.varint(played);
    });
  };
  CHECK(items(kNoon - 1, kNoon - 2, {{5, kNoon, 0}, {6, kNoon, 3}}) == Code::kOk);
  CHECK(items(kNoon, 0, {{5, kNoon, 0}}) == Code::kCorrupt);
  CHECK(items(0, kNoon, {{5, kNoon, 0}}) == Code::kCorrupt);
  CHECK(items(0, 0, {{5, kNoon, 0}, {5, kNoon, 0}}) == Code::kCorrupt);
  CHECK(items(0, 0, {{6, kNoon, 0}, {5, kNoon, 0}}) == Code::kCorrupt);
  CHECK(items(0, 0, {{5, kEventTimeEndMs, 0}}) == Code::kCorrupt);
  CHECK(items(0, 0, {{5, kNoon, UINT64_MAX}}) == Code::kCorrupt);
  CHECK(items(0, 0, {{5, INT64_MAX, 100}}) == Code::kCorrupt);
}

TEST_CASE("forgotten: of items that were forgotten at the same time as many stay as there is room for, in any order") {
  std::mt19937_64 random(3);
  const size_t count = Forgotten::kItemsMax + 700;
  std::vector<std::pair<ItemHash, int64_t>> forgets;
  for (size_t i = 0; i < count; ++i) forgets.emplace_back(ItemHash(i), i % 7 == 0 ? kNoonMs + 5 : kNoonMs);
  std::optional<Forgotten> first;
  for (int round = 0; round < (kInstrumented ? 4 : 20); ++round) {
    std::shuffle(forgets.begin(), forgets.end(), random);
    Forgotten forgotten;
    for (int again = 0; again < 2; ++again) {
      for (const auto& [item, time_ms] : forgets) forgotten.forget_item(item, time_ms);
    }
    CHECK(forgotten.items().size() == Forgotten::kItemsMax);
    CHECK_FALSE(forgotten.counts(ItemHash(0), kNoonMs));
    CHECK(forgotten.forget_item(ItemHash(count), kNoonMs + 6));
    if (!first) first = forgotten;
    CHECK(forgotten == *first);
    CHECK(decode_forgotten(encode_forgotten(forgotten, kKey), kKey).value() == forgotten);
  }
}
