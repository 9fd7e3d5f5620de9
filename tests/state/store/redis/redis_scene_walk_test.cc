#include "state/store/redis/redis_scene_walk.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <future>

#include "base/faults/fault_point.h"
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

namespace {

// The primaries in the order in which a walk comes to them: by address.
std::vector<size_t> walk_order(RedisCluster& cluster) {
  std::vector<size_t> order = {0, 1, 2};
  std::ranges::sort(order, {}, [&](size_t i) { return cluster.primary(i).address(); });
  return order;
}

// A user of another scene than "feed" whose slot this primary has.
std::string user_of(RedisClusterBed& bed, size_t primary, uint16_t& slot) {
  for (int i = 0;; ++i) {
    std::string key(UserKey("search", "s" + std::to_string(i)).bytes());
    slot = redis_slot(bed.keys.forgotten(key));
    if (bed.cluster().primary_of(slot) == primary) return key;
  }
}

}  // namespace

TEST_CASE("redis scene walk: a slot that moves to a server that was walked already hides no scene") {
  RedisClusterBed bed(0);
  const std::vector<size_t> order = walk_order(bed.cluster());
  uint16_t slot = 0;
  const std::string key = user_of(bed, order[2], slot);
  bed.play("u1", kNow, {"a"});
  const ItemHash item = item_hash("a");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  REQUIRE(bed.store().apply({&update, 1}).ok());
  // The slot leaves before the walk, or in the middle of it, and arrives in the middle, or not before its end.
  const bool leaves_before = GENERATE(true, false);
  const bool arrives = !leaves_before && GENERATE(true, false);
  if (leaves_before) bed.cluster().begin_move(slot, order[2], order[0]);
  // The first server is walked as soon as the second one is.
  bool moved = false;
  const auto move = [&](std::string_view point) {
    const std::string stats = bed.cluster().primary(order[1]).ask({"INFO", "commandstats"});
    if (point != "store.read" || moved || stats.find("cmdstat_scan:") == std::string::npos) return;
    moved = true;
    if (!leaves_before) bed.cluster().begin_move(slot, order[2], order[0]);
    bed.cluster().move_keys(slot, order[2], order[0], 1'000'000);
    if (arrives) bed.cluster().end_move(slot, order[0]);
  };
  set_fault_handler(move);
  const auto found = bed.redis().scenes();
  set_fault_handler({});
  CHECK(moved);
  CHECK(found.value() == std::set<std::string>{"feed", "search"});
}

TEST_CASE("redis scene walk: it needs no right to ask for slots") {
  RedisClusterBed bed(0);
  bed.play("u1", kNow, {"a"});
  for (size_t i = 0; i < 3; ++i)
    REQUIRE(bed.cluster().primary(i).ask({"ACL", "SETUSER", "default", "-cluster|nodes"}) == "OK\n");
  CHECK(bed.redis().scenes().value() == std::set<std::string>{"feed"});
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
