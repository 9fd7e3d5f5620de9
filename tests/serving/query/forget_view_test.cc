#include "serving/query/forget_view.h"

#include <catch2/catch.hpp>

#include "tests/support/serving_world.h"

using namespace bloomring;

namespace {

// The steps that an event takes: in the log, merged and cached, let go by memory.
void take_steps(ServingWorld& world, int steps) {
  if (steps > 0) world.merge();
  if (steps > 1) {
    world.advance_hours(7);
    world.release();
  }
}

}  // namespace

TEST_CASE("forget: an item is unseen at once wherever its plays are, and seen again when it is played after that") {
  const int before = GENERATE(0, 1, 2), between = GENERATE(0, 1, 2), after = GENERATE(0, 1, 2);
  const bool everything = GENERATE(false, true);
  CAPTURE(before, between, after, everything);
  ServingWorld world;
  world.play("u1", "v1");
  world.play("u1", "v2");
  take_steps(world, before);
  CHECK(world.seen("u1", "v1") != "unseen");  // Which also fills the cache.
  world.clock.advance_ms(1);
  if (everything)
    world.forget_all("u1");
  else
    world.forget("u1", "v1");
  CHECK(world.seen("u1", "v1") == "unseen");
  CHECK((world.seen("u1", "v2") == "unseen") == everything);
  take_steps(world, between);
  CHECK(world.seen("u1", "v1") == "unseen");
  CHECK((world.seen("u1", "v2") == "unseen") == everything);
  world.clock.advance_ms(1);
  world.play("u1", "v1");
  CHECK(world.seen("u1", "v1") == "recent");
  take_steps(world, after);
  CHECK(world.seen("u1", "v1") == (after < 2 ? "recent" : "filter 2026-11"));
  CHECK((world.seen("u1", "v2") == "unseen") == everything);
}

TEST_CASE("forget: a replay of old plays stays forgotten at every step") {
  const int before = GENERATE(0, 1, 2);
  const bool everything = GENERATE(false, true);
  ServingWorld world;
  const int64_t played_ms = world.clock.now_ms();
  world.play("u1", "v1");
  world.clock.advance_ms(1);
  if (everything)
    world.forget_all("u1");
  else
    world.forget("u1", "v1");
  take_steps(world, before);
  world.play_at("u1", "v1", played_ms);
  for (int steps = 0; steps < 3; ++steps) {
    take_steps(world, steps);
    CHECK(world.seen("u1", "v1") == "unseen");
  }
}

TEST_CASE("forget: plays of other periods follow the same law") {
  ServingWorld world;
  world.play_at("u1", "v1", kStartMs - 40 * kDayMs);
  world.play_at("u1", "v2", kStartMs - 40 * kDayMs);
  world.play("u1", "v2");
  world.happen(EventKind::kForget, "u1", "v1", kStartMs - 39 * kDayMs);
  world.happen(EventKind::kForget, "u1", "v2", kStartMs - 39 * kDayMs);
  for (int steps = 0; steps < 3; ++steps) {
    take_steps(world, steps);
    CHECK(world.seen("u1", "v1") == "unseen");
    CHECK(world.seen("u1", "v2") == (steps < 2 ? "recent" : "filter 2026-11"));
  }
}

TEST_CASE("forget: what was served before it is unseen, what is served after it is seen") {
  ServingWorld world;
  world.serve("u1", "v1");
  world.serve("u1", "v2");
  world.clock.advance_ms(1);
  world.forget("u1", "v1");
  CHECK(world.seen("u1", "v1") == "unseen");
  CHECK(world.seen("u1", "v2") == "served");
  world.clock.advance_ms(1);
  world.serve("u1", "v1");
  CHECK(world.seen("u1", "v1") == "served");
  world.clock.advance_ms(1);
  world.forget_all("u1");
  CHECK(world.seen("u1", "v1") == "unseen");
  CHECK(world.seen("u1", "v2") == "unseen");
  CHECK_FALSE(world.ask("u1", {"v1"}).user_known);
}

TEST_CASE("forget: only the user and the scene that it names") {
  ServingWorld world;
  world.play("u1", "v1");
  world.play("u2", "v1");
  world.clock.advance_ms(1);
  world.forget_all("u1");
  CHECK(world.seen("u2", "v1") == "recent");
}

TEST_CASE("forget: with the filter store away, what memory knows of it holds") {
  ServingWorld world;
  world.play("u1", "v1");
  world.clock.advance_ms(1);
  world.forget("u1", "v1");
  world.store.fail_reads(true);
  CHECK(world.seen("u1", "v1") == "unseen");
}
