#include "state/store/redis/redis_admin.h"

#include <catch2/catch.hpp>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("redis admin: a sound store passes its check, and every key in it is known") {
  RedisClusterBed bed(0);
  MergedWatermark merged;
  merged.offset = Offset(5);
  for (int u = 0; u < 50; ++u) bed.play("u" + std::to_string(u), kNow, {"a", "b"});
  bed.forget_everything("u1", kNowMs, 0, 0);
  REQUIRE(bed.store().advance(PartitionId(2), merged).ok());
  auto check = bed.redis().check({});
  REQUIRE(check.ok());
  CHECK(check->sound());
  CHECK(check->filters == 50);
  CHECK(check->items == 100);
  CHECK(check->watermarks == std::map<PartitionId, MergedWatermark>{{PartitionId(2), merged}});
  CHECK(bed.redis().scenes().value() == std::set<std::string>{"feed"});
  REQUIRE(bed.ask_owner("bloomring:{x}y", {"SET", "bloomring:{x}y", "1"}) == "OK\n");
  check = bed.redis().check({});
  CHECK(check->damaged == 1);
  CHECK_THAT(check->damages.at(0), Catch::Contains("bloomring:{x}y"));
}

TEST_CASE("redis admin: a shard's state that another program has made a list of is damage") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  const std::string key = bed.keys.shard_state(UserRef(user("u1")).shard());
  REQUIRE(bed.server().ask({"DEL", key}) == "1\n");
  REQUIRE(bed.server().ask({"RPUSH", key, "of", "another"}) == "2\n");
  const auto check = bed.redis().check({});
  REQUIRE(check.ok());
  CHECK(check->damaged == 1);
  CHECK_THAT(check->damages.at(0), Catch::Contains("a value that is no string"));
}

TEST_CASE("redis admin: a new log begins at its start, with the hours of the old one") {
  RedisBed bed;
  MergedWatermark old;
  old.offset = Offset(50);
  old.merged_ms = kNowMs;
  old.hour = HourIndex(7);
  REQUIRE(bed.store().advance(PartitionId(1), old).ok());
  REQUIRE(bed.redis().begin_new_log().to_string() == "ok");
  CHECK(bed.redis().read_watermark(PartitionId(1)).value() == of_new_log(old));
}
