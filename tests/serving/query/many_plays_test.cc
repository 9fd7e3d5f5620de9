// A user with hundreds of thousands of plays in a lap: what one question about the user costs is bounded, and exact.
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/support/instrumented.h"
#include "tests/support/serving_world.h"

using namespace bloomring;

namespace {

std::vector<ItemHash> items(uint64_t begin, uint64_t end) {
  std::vector<ItemHash> made;
  for (uint64_t i = begin; i < end; ++i) made.push_back(item_hash("v" + std::to_string(i)));
  return made;
}

FilterAnswer ask(ServingWorld& world, const std::string& user, const std::vector<ItemHash>& ids) {
  const UserKey key("", user);
  return world.core.answer(*world.partition, {key.bytes(), ids, {}, {}});
}

}  // namespace

TEST_CASE("many plays: a question copies of the user's plays no more than it has candidates, and finds each of them") {
  ServingWorld world;
  const uint64_t plays = kInstrumented ? 40'000 : 400'000;
  for (uint64_t hour = 0; hour < 4; ++hour) {
    world.play_all("u1", items(hour * plays / 4, (hour + 1) * plays / 4), world.clock.now_ms());
    world.advance_hours(1);
  }
  const std::vector<ItemHash> ids = items(plays - 5'000, plays + 5'000);
  const UserKey key("", "u1");
  const UserLookup lookup = world.core.look_up(*world.partition, key.bytes(), {.items = ids});
  CHECK(lookup.recents.size() <= 5'000 + 4);
  const FilterAnswer answer = ask(world, "u1", ids);
  CHECK(answer.seen_count == 5'000);
  CHECK(answer.user_known);
  CHECK(ask(world, "u1", items(plays, plays + 20'000)).seen_count == 0);
  CHECK(ask(world, "u1", items(plays, plays + 20'000)).user_known);
  CHECK(ask(world, "u1", {}).user_known);
  const UserLookup some = world.core.look_up(*world.partition, key.bytes(), {.plays_max = 1'000});
  CHECK(some.left_out);
  CHECK(some.recents.size() <= 1'000 + 4);
  const UserLookup all = world.core.look_up(*world.partition, key.bytes(), {.plays_max = plays});
  CHECK_FALSE(all.left_out);
  CHECK(all.recents.size() >= plays);
}

TEST_CASE("many plays: an item that is played again and again is held once") {
  ServingWorld world;
  const std::vector<ItemHash> ten = items(0, 10);
  for (int i = 0; i < 500; ++i) world.play_all("u1", ten, world.clock.now_ms());
  const size_t bytes = world.partition->recents().stats().bytes;
  for (int i = 0; i < 1'000; ++i) world.play_all("u1", ten, world.clock.now_ms());
  CHECK(world.partition->recents().stats().bytes == bytes);
  CHECK(world.partition->recents().stats().plays == 15'000);
  CHECK(ask(world, "u1", items(0, 20)).seen_count == 10);
}

TEST_CASE("many plays: the latest time of an item decides, in whatever order its plays come") {
  ServingWorld world;
  constexpr int64_t kDay = 24 * kHourMs;
  const std::vector<ItemHash> all = items(0, 5'000);
  world.play_all("u1", all, kStartMs - 200 * kDay);  // Before the window.
  CHECK(ask(world, "u1", all).seen_count == 0);
  const std::vector<ItemHash> some = items(0, 1'000);
  world.play_all("u1", some, kStartMs - 100 * kDay);  // In the oldest period of the window.
  world.play_all("u1", some, kStartMs - 200 * kDay);
  CHECK(ask(world, "u1", all).seen_count == 1'000);
  const UserKey key("", "u1");
  const FilterAnswer relaxed = world.core.answer(*world.partition, {key.bytes(), some, {}, {}, 1'000});
  CHECK(relaxed.seen_count == 0);
  world.play_all("u1", items(0, 500), kStartMs);
  CHECK(world.core.answer(*world.partition, {key.bytes(), some, {}, {}, 1'000}).seen_count == 500);
  CHECK(world.partition->recents().newest_play_ms(user_hash(key.bytes()), item_hash("v0")) == kStartMs);
  CHECK(world.partition->recents().newest_play_ms(user_hash(key.bytes()), item_hash("v999")) ==
        kStartMs - 100 * kDay);
  CHECK(world.partition->recents().newest_play_ms(user_hash(key.bytes()), item_hash("never")) == ItemTimes::kNever);
  CHECK(world.partition->recents().newest_play_ms(user_hash(key.bytes()), {}) == kStartMs);
}

TEST_CASE("many plays: what is forgotten is unseen, and seen again when it is played after that") {
  const bool everything = GENERATE(false, true);
  const bool merged = GENERATE(false, true);
  ServingWorld world;
  const std::vector<ItemHash> all = items(0, 6'000);
  world.play_all("u1", all, world.clock.now_ms());
  world.clock.advance_ms(1);
  if (everything) {
    world.forget_all("u1");
  } else {
    for (int i = 0; i < 100; ++i) world.forget("u1", "v" + std::to_string(i));
  }
  if (merged) world.merge();
  CHECK(ask(world, "u1", all).seen_count == (everything ? 0u : 5'900u));
  CHECK(ask(world, "u1", all).user_known != everything);
  world.clock.advance_ms(1);
  world.play_all("u1", items(0, 50), world.clock.now_ms());
  CHECK(ask(world, "u1", all).seen_count == (everything ? 50u : 5'950u));
  if (merged) {
    world.merge();
    world.advance_hours(7);
    world.release();
    CHECK(world.partition->recents().stats().plays == 0);
    CHECK(ask(world, "u1", all).seen_count >= (everything ? 50u : 5'950u));
  }
}

// Against an exact map, users with few, many and very many plays interleaved, over hours that end and are let go.
TEST_CASE("many plays: no played item is ever unseen while users grow from few plays to very many") {
  ServingWorld world;
  std::mt19937 random(7);
  std::map<std::string, uint64_t> played;  // Items [0, n) of each user.
  for (int step = 0; step < rounds(60); ++step) {
    const std::string user = "u" + std::to_string(random() % 3);
    const uint64_t more = user == "u0" ? 1 + random() % 3 : user == "u1" ? 700 : 5'000;
    world.play_all(user, items(played[user], played[user] + more), world.clock.now_ms());
    played[user] += more;
    if (random() % 4 == 0) world.merge();
    if (random() % 3 == 0) world.advance_hours(1);
    if (random() % 3 == 0) world.release();
    for (const auto& [asked, count] : played) {
      const uint64_t from = count - std::min<uint64_t>(count, 1 + random() % 15'000);
      REQUIRE(ask(world, asked, items(from, count)).seen_count == count - from);
    }
  }
}
