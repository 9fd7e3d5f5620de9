#include "state/store/redis/redis_admin.h"

#include <catch2/catch.hpp>

#include "base/faults/fault_point.h"
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

TEST_CASE("redis admin: a walk visits every value once, though its server starts again in the middle") {
  RedisBed bed({"--appendonly", "yes", "--appendfsync", "no"});
  std::set<std::string> expected, visited;
  for (int u = 0; u < 3000; ++u) {
    const std::string name = "u" + std::to_string(u);
    bed.play(name, kNow, {"a"});
    expected.insert(filter_key(user(name), PeriodUnit::kMonth, PeriodIndex(kNow)));
  }
  int steps = 0;
  set_fault_handler([&](std::string_view point) {
    if (point != "store.read" || ++steps != 3) return;
    bed.server().kill_now();
    bed.server().start();
  });
  int visits = 0;
  const Status walked = bed.redis().walk(
      ValueKind::kFilter, [](std::string_view) { return true; },
      [&](std::string_view key, std::string_view) -> Result<bool> {
        visited.emplace(key);
        ++visits;
        return true;
      });
  set_fault_handler({});
  CHECK(walked.to_string() == "ok");
  CHECK(steps > 3);
  CHECK(visits == 3000);
  CHECK(visited == expected);
}

TEST_CASE("redis admin: nothing is exported while slots are under way") {
  RedisClusterBed bed(0);
  REQUIRE(bed.redis().generation().ok());
  bed.cluster().begin_move(7, 0, 1);
  const auto while_moving = bed.redis().generation();
  CHECK(while_moving.code() == Code::kRetry);
  CHECK_THAT(while_moving.status().message(), Catch::Contains("slots are under way"));
  bed.cluster().end_move(7, 1);
  CHECK(bed.redis().generation().ok());
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
