#include "state/redis/redis_hedges.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

uint64_t hedges_of(RedisHedges& hedges, int reads) {
  uint64_t taken = 0;
  for (int i = 0; i < reads; ++i) {
    hedges.note_read();
    taken += hedges.take() ? 1 : 0;
  }
  return taken;
}

}  // namespace

TEST_CASE("redis hedges: of 100 reads the configured number and no more asks a second time") {
  for (const uint32_t percent : {1U, 5U, 30U, 100U}) {
    RedisHedges hedges(percent);
    CHECK(hedges_of(hedges, 100) == percent);
    CHECK(hedges_of(hedges, 100'000) == 1000 * percent);
    CHECK(hedges.asked() == 1001 * percent);
    CHECK(hedges.withheld() == 1001 * (100 - percent));
  }
}

TEST_CASE("redis hedges: the first reads have none, until one is earned") {
  RedisHedges hedges(5);
  CHECK_FALSE(hedges.take());
  CHECK(hedges_of(hedges, 19) == 0);
  CHECK(hedges_of(hedges, 1) == 1);
}

TEST_CASE("redis hedges: unused ones are kept up to a bound") {
  RedisHedges hedges(5);
  for (int i = 0; i < 1'000'000; ++i) hedges.note_read();
  int64_t taken = 0;
  while (hedges.take()) ++taken;
  CHECK(taken == RedisHedges::kKept);
}
