// The law of every filter store, held by each of them.
#include "state/store/local_filter_store.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "schemas/store_key.h"
#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

#define STORES EmbeddedBed, MemoryBed, RedisBed, RedisClusterBed

TEMPLATE_TEST_CASE("filter store: what was applied is read, for its user and its period alone", "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a", "b"});
  bed.play("u1", kNow - 1, {"c"});
  bed.play("u2", kNow, {"d"});
  CHECK(bed.seen("u1", kNow, {"a", "b", "c", "d"}) == "ab");
  CHECK(bed.seen("u1", kNow - 1, {"a", "b", "c", "d"}) == "c");
  CHECK(bed.seen("u2", kNow, {"a", "b", "c", "d"}) == "d");
  CHECK(bed.seen("u3", kNow, {"a", "b", "c", "d"}) == "");
}

TEMPLATE_TEST_CASE("filter store: filters come in the order of the periods asked for, missing ones left out", "",
                   STORES) {
  TestType bed;
  for (const int32_t back : {0, 2, 3}) bed.play("u1", kNow - back, {"a"});
  const auto read = [&](std::vector<int32_t> periods) {
    std::vector<int32_t> found;
    for (const StoredFilter& filter : bed.read("u1", periods)) {
      CHECK(filter.store_key == filter_key(user("u1"), PeriodUnit::kMonth, filter.period));
      found.push_back(filter.period.value);
    }
    return found;
  };
  CHECK(read({kNow, kNow - 1, kNow - 2, kNow - 3}) == std::vector<int32_t>{kNow, kNow - 2, kNow - 3});
  CHECK(read({kNow - 3, kNow, kNow - 1}) == std::vector<int32_t>{kNow - 3, kNow});
  CHECK(read({}).empty());
  CHECK(read({-5, 70000}).empty());
}

TEMPLATE_TEST_CASE("filter store: what was forgotten is kept by user, and takes filters with it", "", STORES) {
  TestType bed;
  for (const int32_t back : {0, 1, 2}) bed.play("u1", kNow - back, {"a"});
  bed.play("u2", kNow - 1, {"b"});
  bed.forget_everything("u1", kNowMs, kNow - 6, kNow);
  CHECK(bed.forgotten("u1").everything_ms() == kNowMs);
  CHECK(bed.forgotten("u2").empty());
  for (int round = 0; round < 2; ++round) {
    CHECK(bed.seen("u1", kNow, {"a"}) == "a");
    CHECK(bed.seen("u1", kNow - 1, {"a"}) == "");
    CHECK(bed.seen("u1", kNow - 2, {"a"}) == "");
    CHECK(bed.seen("u2", kNow - 1, {"b"}) == "b");
    bed.settle();
    bed.reopen();
  }
  bed.play("u1", kNow - 1, {"c"});
  CHECK(bed.seen("u1", kNow - 1, {"a", "c"}) == "c");
  const std::string key = user("u1");
  const ForgottenUpdate nothing{key, {}, PeriodIndex(0), PeriodIndex(0)};
  REQUIRE(bed.store().apply({&nothing, 1}, {}).ok());
  CHECK(bed.forgotten("u1").empty());
}

TEMPLATE_TEST_CASE("filter store: one apply forgets first and unites afterwards", "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"old"});
  const std::string key = user("u1");
  ForgottenUpdate forget{key, {}, PeriodIndex(kNow), PeriodIndex(kNow + 1)};
  forget.forgotten.forget_everything(kNowMs);
  const ItemHash item = item_hash("new");
  const FilterUpdate play{key, PeriodIndex(kNow), {&item, 1}};
  REQUIRE(bed.store().apply({&forget, 1}, {&play, 1}).ok());
  CHECK(bed.seen("u1", kNow, {"old", "new"}) == "new");
  CHECK(bed.scanned() == 1);
}

TEMPLATE_TEST_CASE("filter store: applying again changes nothing", "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a", "b", "c"});
  const std::string once = bed.read("u1", {kNow}).at(0).value;
  for (int i = 0; i < 3; ++i) bed.play("u1", kNow, {"c", "a"});
  CHECK(bed.read("u1", {kNow}).at(0).value == once);
}

TEMPLATE_TEST_CASE("filter store: what was applied is there when it is opened again", "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  bed.reopen();
  bed.play("u1", kNow, {"b"});
  bed.reopen();
  CHECK(bed.seen("u1", kNow, {"a", "b", "c"}) == "ab");
}

TEMPLATE_TEST_CASE("filter store: a partition has no watermark until one was written, and its own from then on", "",
                   STORES) {
  TestType bed;
  CHECK_FALSE(bed.store().read_watermark(PartitionId(1)).value().has_value());
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(10)}, HourIndex(5));
  watermark.add({Offset(20), Offset(30)}, HourIndex(7));
  REQUIRE(bed.store().advance(PartitionId(1), watermark).ok());
  CHECK(bed.store().read_watermark(PartitionId(1)).value() == watermark);
  CHECK_FALSE(bed.store().read_watermark(PartitionId(2)).value().has_value());
  bed.reopen();
  CHECK(bed.store().read_watermark(PartitionId(1)).value() == watermark);
}

TEMPLATE_TEST_CASE("filter store: an expired filter is not returned, and updates of it are counted and not written", "",
                   STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  const int64_t expiry = bed.calendar.expires_at_ms(user_hash(user("u1")), PeriodIndex(kNow));
  bed.pass_to_ms(expiry - 1);
  CHECK(bed.seen("u1", kNow, {"a"}) == "a");
  CHECK(bed.scanned() == 1);
  bed.pass_to_ms(expiry);
  CHECK(bed.read("u1", {kNow}).empty());
  CHECK(bed.scanned() == 0);
  bed.play("u1", kNow, {"b"});
  CHECK(bed.store().stats().expired_updates == 1);
  CHECK(bed.store().stats().updates == 1);
}

TEMPLATE_TEST_CASE("filter store: a wall clock months ahead of merged log time expires nothing", "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  bed.clock.advance_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 8)));
  bed.play("u1", kNow, {"b"});
  bed.settle();
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "ab");
  bed.clock.advance_to_ms(kNowMs);
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "ab");
  CHECK(bed.store().stats().expired_dropped == 0);
}

TEMPLATE_TEST_CASE("filter store: a scan visits every filter once until it is told to stop", "", STORES) {
  TestType bed;
  for (int u = 0; u < 20; ++u) {
    for (const int32_t back : {0, 1}) bed.play("u" + std::to_string(u), kNow - back, {"a"});
  }
  REQUIRE(bed.store().advance(PartitionId(0), {}).ok());
  std::vector<std::string> keys;
  REQUIRE(bed.store()
              .scan([&](const StoredFilter& filter, std::string_view user_key) {
                CHECK(filter.store_key == filter_key(user_key, PeriodUnit::kMonth, filter.period));
                CHECK(filter::summarize(filter.value, filter.store_key)->items == 1);
                keys.push_back(filter.store_key);
                return true;
              })
              .ok());
  CHECK(keys.size() == 40);
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == 40);
  int visits = 0;
  REQUIRE(bed.store().scan([&](const StoredFilter&, std::string_view) { return ++visits < 3; }).ok());
  CHECK(visits == 3);
}

TEMPLATE_TEST_CASE("filter store: a damaged key reads as corrupt by name, whatever is added, and harms no other", "",
                   STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  bed.play("u2", kNow, {"b"});
  bed.damage("u1", kNow);
  bed.play("u1", kNow, {"c"});
  std::vector<StoredFilter> out;
  const PeriodIndex period(kNow);
  for (int i = 0; i < 2; ++i) {
    const Status status = bed.store().read(user("u1"), {&period, 1}, out);
    CHECK(status.code() == Code::kCorrupt);
    CHECK_THAT(status.message(), Catch::Contains("user " + user_hash_text(user("u1")) + " in scene feed, month " +
                                                 std::to_string(kNow)));
    CHECK(bed.store().stats().refused > 0);
    bed.settle();
  }
  CHECK(bed.store().scan([](const StoredFilter&, std::string_view) { return true; }).code() == Code::kCorrupt);
  CHECK(bed.seen("u2", kNow, {"b"}) == "b");
  bed.play("u2", kNow, {"d"});
  CHECK(bed.seen("u2", kNow, {"b", "d"}) == "bd");
}

TEMPLATE_TEST_CASE("filter store: a damaged forgotten value is corrupt to questions and gives its good part to writers",
                   "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  bed.damage_forgotten("u1");
  const std::string key = user("u1");
  const UserRef keys[] = {key};
  for (int round = 0; round < 3; ++round) {
    std::vector<StoredFilter> filters;
    Forgotten unread;
    const Status status = bed.store().read(key, {}, filters, unread);
    CHECK(status.code() == Code::kCorrupt);
    CHECK_THAT(status.message(), Catch::Contains("user " + user_hash_text(key) + " in scene feed"));
    std::vector<Forgotten> stored;
    REQUIRE(bed.store().read_forgotten(keys, stored).to_string() == "ok");
    CHECK(stored[0].damage().refused == 1);
    CHECK(stored[0].items().size() == static_cast<size_t>(round));
    ForgottenUpdate update{key, std::move(stored[0]), PeriodIndex(0), PeriodIndex(0)};
    update.forgotten.forget_item(item_hash(std::to_string(round)), kNowMs);
    REQUIRE(bed.store().apply({&update, 1}, {}).to_string() == "ok");
    bed.settle();
  }
}

TEST_CASE("filter store: stores that were given the same plays hold the same bytes, however these came") {
  std::mt19937 rng(5);
  EmbeddedBed embedded;
  MemoryBed memory;
  RedisBed redis;
  std::vector<std::pair<int, int>> plays;
  for (int i = 0; i < 6000; ++i) plays.emplace_back(rng() % 11, rng() % 700);
  const auto give = [&](Bed& bed, size_t batch, auto between) {
    std::shuffle(plays.begin(), plays.end(), rng);
    for (size_t i = 0; i < plays.size(); i += batch) {
      std::map<int, std::vector<std::string>> by_user;
      for (size_t j = i; j < std::min(plays.size(), i + batch); ++j) {
        by_user[plays[j].first].push_back("v" + std::to_string(plays[j].second));
      }
      for (const auto& [u, items] : by_user) bed.play("u" + std::to_string(u), kNow, items);
      between();
    }
  };
  give(memory, 500, [] {});
  give(embedded, 60, [&] {
    if (rng() % 8 == 0) embedded.reopen();
    if (rng() % 20 == 0) embedded.settle();
  });
  give(redis, 130, [&] {
    if (rng() % 8 == 0) redis.reopen();
  });
  for (int u = 0; u < 11; ++u) {
    const std::string name = "u" + std::to_string(u);
    const std::string value = memory.read(name, {kNow}).at(0).value;
    CHECK(embedded.read(name, {kNow}).at(0).value == value);
    CHECK(redis.read(name, {kNow}).at(0).value == value);
  }
}
