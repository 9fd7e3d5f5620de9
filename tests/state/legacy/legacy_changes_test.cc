#include "state/legacy/legacy_changes.h"

#include <catch2/catch.hpp>
#include <utility>

#include "tests/state/legacy/old_store_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Bed : OldStoreBed {
  using OldStoreBed::OldStoreBed;
  std::string set(const std::string& key) { return server.ask({"ZRANGE", key, "0", "-1", "WITHSCORES"}); }
};

void no_key(const std::string& key, uint64_t) { FAIL(key); }

}  // namespace

TEST_CASE("legacy changes: a later time stays, whatever is written when, and by whom") {
  Bed bed;
  LegacyChanges changes(*bed.client, {});
  bed.server.ask({"ZADD", "k", "50", "a", "10", "b"});
  changes.play("k", "a", "20");
  changes.play("k", "b", "20");
  changes.play("k", "c", "30");
  changes.play("k", "c", "25");
  changes.play("other", "c", "1");
  CHECK(changes.keys() == 2);
  REQUIRE(changes.write(no_key).ok());
  CHECK(changes.empty());
  CHECK(bed.set("k") == "b\n20\nc\n30\na\n50\n");
  CHECK(bed.set("other") == "c\n1\n");
}

TEST_CASE("legacy changes: the changes of a set are made in their order, and twice they leave what once they leave") {
  Bed bed;
  LegacyChanges changes(*bed.client, {});
  for (int time = 0; time < 2; ++time) {
    changes.play("k", "a", "10");
    changes.play("k", "b", "11");
    changes.play("k", "late", "30");
    changes.forget("k", "a", "11");     // Played before it: goes.
    changes.forget("k", "late", "30");  // Played at the bound, which is after it: stays.
    changes.forget("k", "nobody", "99");
    changes.play("k", "a", "12");       // Played again.
    changes.play("gone", "a", "10");
    changes.play("gone", "b", "20");
    changes.forget_all("gone", "20");
    REQUIRE(changes.write(no_key).ok());
    CHECK(bed.set("k") == "b\n11\na\n12\nlate\n30\n");
    CHECK(bed.set("gone") == "b\n20\n");
  }
}

TEST_CASE("legacy changes: a set keeps its newest members and gets its time to live, as the site has it") {
  Bed bed;
  LegacyChanges changes(*bed.client, {.members_max = 3, .ttl_seconds = 1'000});
  for (int i = 0; i < 10; ++i) changes.play("k", "m" + std::to_string(i), std::to_string(i));
  changes.forget("untouched", "a", "5");
  REQUIRE(changes.write(no_key).ok());
  CHECK(bed.set("k") == "m7\n7\nm8\n8\nm9\n9\n");
  CHECK(std::stoi(bed.server.ask({"TTL", "k"})) > 900);
  CHECK(bed.server.ask({"EXISTS", "untouched"}) == "0\n");
  LegacyChanges unbounded(*bed.client, {});
  unbounded.play("k", "m10", "10");
  REQUIRE(unbounded.write(no_key).ok());
  CHECK(bed.server.ask({"ZCARD", "k"}) == "4\n");
}

TEST_CASE("legacy changes: a key that holds something else is told and left alone, with its time to live") {
  Bed bed;
  bed.server.ask({"SET", "text", "x"});
  bed.server.ask({"RPUSH", "list", "x"});
  LegacyChanges changes(*bed.client, {.members_max = 3, .ttl_seconds = 1'000});
  changes.play("text", "a", "10");
  changes.play("text", "b", "10");
  changes.forget("list", "a", "20");
  changes.play("k", "a", "10");
  std::vector<std::pair<std::string, uint64_t>> refused;
  REQUIRE(changes.write([&](const std::string& key, uint64_t count) { refused.emplace_back(key, count); }).ok());
  std::sort(refused.begin(), refused.end());
  CHECK(refused == std::vector<std::pair<std::string, uint64_t>>{{"list", 1}, {"text", 2}});
  CHECK(bed.server.ask({"GET", "text"}) == "x\n");
  CHECK(bed.server.ask({"TTL", "text"}) == "-1\n");
  CHECK(bed.server.ask({"LLEN", "list"}) == "1\n");
  CHECK(bed.set("k") == "a\n10\n");
}

TEST_CASE("legacy changes: what a server that is away did not take stays gathered, and is written when it is back") {
  Bed bed({"--appendonly", "yes"});
  bed.connect({}, 300);
  LegacyChanges changes(*bed.client, {});
  changes.play("k", "a", "10");
  bed.server.kill_now();
  CHECK(changes.write(no_key).code() == Code::kRetry);
  CHECK(changes.keys() == 1);
  bed.server.start();
  wait_until_true("the changes to be written", [&] { return changes.write(no_key).ok(); });
  CHECK(bed.set("k") == "a\n10\n");
}

TEST_CASE("legacy changes: a user without the right to write is told which right is missing") {
  Bed bed(redis_user("site on >secret ~* +@read +@connection +cluster +info +role"));
  bed.connect({"site", "secret"});
  LegacyChanges changes(*bed.client, {});
  changes.play("k", "a", "10");
  const Status refused = changes.write(no_key);
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.message(), Catch::Contains("writing k") && Catch::Contains("ACL"));
}

TEST_CASE("legacy changes: in a cluster each set is written where its slot is") {
  RedisCluster cluster(3, 0);
  RedisCounters counters;
  RedisClientConfig config;
  config.addresses = cluster.addresses();
  config.timeout_ms = 10'000;
  RedisClient client("test", config, counters);
  LegacyChanges changes(client, {.members_max = 2, .ttl_seconds = 1'000});
  for (int user = 0; user < 100; ++user)
    for (int item = 0; item < 3; ++item) changes.play("hist:" + std::to_string(user), std::to_string(item), "5");
  for (int user = 0; user < 100; user += 2) changes.forget("hist:" + std::to_string(user), "2", "6");
  REQUIRE(changes.write(no_key).ok());
  int keys = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int here = std::stoi(cluster.primary(i).ask({"DBSIZE"}));
    CHECK(here > 10);
    keys += here;
  }
  CHECK(keys == 100);
}
