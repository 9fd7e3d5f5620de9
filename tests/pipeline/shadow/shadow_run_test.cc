#include "pipeline/shadow/shadow_run.h"

#include <catch2/catch.hpp>
#include <deque>

#include "tests/pipeline/shadow/shadow_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// So many queries, each about an item that both have.
struct Queries final : QuerySource {
  explicit Queries(size_t count) : left(count) {}
  Result<std::optional<FilterCall>> next() override {
    if (left == 0) return std::optional<FilterCall>();
    --left;
    return std::optional<FilterCall>(ShadowBed::query({item}));
  }
  bool ended() const override { return left == 0 && !endless; }
  uint64_t refused() const override { return 7; }
  uint64_t dropped() const override { return 8; }
  uint64_t unlike() const override { return 9; }
  std::string item = "v1";
  size_t left;
  bool endless = false;
};

struct World {
  ShadowBed bed;
  int turns = 0;
  int stop_after = -1;

  Result<ShadowEnd> run(Queries& queries, ShadowComparer& comparer, ShadowRunConfig config = {}) {
    const auto wait = [&](int64_t wait_ns) {
      bed.clock.advance_ms(std::max<int64_t>(1, wait_ns / 1'000'000));
      return ++turns == stop_after;
    };
    return run_shadow(config, {bed.clock, queries, comparer, wait});
  }
};

}  // namespace

TEST_CASE("shadow run: it asks every query at the rate, and ends when the last doubt has ended") {
  World world;
  world.bed.old_items = {{"v1", ShadowBed::kNowMs - 1}};
  Queries queries(300);
  ShadowComparer comparer = world.bed.comparer();
  const auto end = world.run(queries, comparer, {.rate = 100});
  REQUIRE(end.ok());
  CHECK_FALSE(end->stopped);
  CHECK(end->counts.compared == 300);
  CHECK(end->counts.of(ShadowResult::kMissing) == 300);
  // Three seconds of queries, less what a pace gathers, and twice five until the last doubt has ended.
  CHECK(end->seconds > 12.8);
  CHECK(end->seconds < 14);
  CHECK(end->counts.refused == 7);
  CHECK(end->counts.dropped == 8);
  CHECK(end->counts.unlike == 9);
}

TEST_CASE("shadow run: a stop, and a time, end it with a report of what was asked, and no doubt stays open") {
  World world;
  world.bed.old_items = {{"v1", ShadowBed::kNowMs - 1}};
  world.stop_after = 100;
  Queries queries(1'000'000);
  ShadowComparer comparer = world.bed.comparer();
  const auto end = world.run(queries, comparer, {.rate = 1e6});
  REQUIRE(end.ok());
  CHECK(end->stopped);
  CHECK(end->counts.compared > 10);
  CHECK(end->counts.of(ShadowResult::kUnsettled) == end->counts.compared);
  CHECK(end->counts.of(ShadowResult::kDoubt) == 0);
  World other;
  Queries endless(0);
  endless.endless = true;
  ShadowComparer idle = other.bed.comparer();
  const auto timed = other.run(endless, idle, {.rate = 10, .end_ms = 2'000});
  REQUIRE(timed.ok());
  CHECK(timed->stopped);
  CHECK(timed->seconds == Approx(2).margin(0.05));
}

TEST_CASE("shadow run: a stop while a service is away asks one doubt in vain, and no more") {
  World world;
  world.bed.old_items = {{"v1", ShadowBed::kNowMs - 1}};
  world.stop_after = 100;
  Queries queries(1'000'000);
  ShadowComparer comparer = world.bed.comparer({.settle_ms = 1'000'000});
  const auto wait_and_fail = [&](int64_t) {
    world.bed.clock.advance_ms(1);
    world.bed.old_away = ++world.turns == world.stop_after;
    return world.bed.old_away;
  };
  const auto end = run_shadow({.rate = 1e6}, {world.bed.clock, queries, comparer, wait_and_fail});
  REQUIRE(end.ok());
  CHECK(end->counts.compared > 10);
  CHECK(world.bed.old_questions == static_cast<int>(end->counts.compared) + 1);
  CHECK(end->counts.of(ShadowResult::kUnsettled) == end->counts.compared);
}
