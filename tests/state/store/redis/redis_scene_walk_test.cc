#include "state/store/redis/redis_scene_walk.h"

#include <catch2/catch.hpp>
#include <future>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

using Scenes = Result<std::set<std::string>>;

TEST_CASE("redis scene walk: nobody waits while the scenes of a store are listed") {
  RedisBed bed;
  bed.play("u1", kNow, {"a"});
  std::promise<Scenes> promise;
  auto found = promise.get_future();
  bed.server().freeze();
  bed.redis().begin_scenes([&](Scenes scenes) { promise.set_value(std::move(scenes)); });
  CHECK(found.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  bed.server().unfreeze();
  CHECK(found.get().value() == std::set<std::string>{"feed"});
}

TEST_CASE("redis scene walk: it reads all servers and every key, in steps") {
  RedisClusterBed bed(0);
  for (int u = 0; u < 700; ++u) bed.play("u" + std::to_string(u), kNow, {"a"});
  const std::string key(UserKey("search", "only-one").bytes());
  const ItemHash item = item_hash("a");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  REQUIRE(bed.store().apply({&update, 1}).ok());
  CHECK(bed.redis().scenes().value() == std::set<std::string>{"feed", "search"});
}

TEST_CASE("redis scene walk: a store that is closed meanwhile ends it with retry") {
  RedisBed bed;
  std::promise<Scenes> promise;
  auto found = promise.get_future();
  auto other = bed.another(false);
  bed.server().freeze();
  other->begin_scenes([&](Scenes scenes) { promise.set_value(std::move(scenes)); });
  other.reset();
  CHECK(found.get().code() == Code::kRetry);
  bed.server().unfreeze();
}
