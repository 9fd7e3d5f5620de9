#include "schemas/store/shard_standing.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/schemas/store/merged.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("shard state: a mark covers a watermark when nothing of it is missing") {
  CHECK(covers_all({}, {}));
  CHECK(covers_all(merged(5), {}));
  CHECK_FALSE(covers_all({}, merged(5)));
  CHECK_FALSE(covers_all({}, merged(0)));
  CHECK(covers_all(merged(5), merged(5)));
  CHECK(covers_all(merged(6), merged(5)));
  CHECK_FALSE(covers_all(merged(4), merged(5)));
  CHECK(covers_all(merged(20), merged(5, {range(10, 20)})));
  CHECK(covers_all(merged(5, {range(8, 25)}), merged(5, {range(10, 20)})));
  CHECK_FALSE(covers_all(merged(15), merged(5, {range(10, 20)})));
}

TEST_CASE("shard state: the most of two covers both, also where there is no place for all ranges") {
  std::vector<OffsetRange> even, odd;
  for (int i = 1; i <= 64; ++i) {
    even.push_back(range(i * 20, i * 20 + 5));
    odd.push_back(range(i * 20 + 10, i * 20 + 15));
  }
  const std::vector<MergedWatermark> some = {merged(5), merged(9), merged(5, {range(7, 12)}),
                                             merged(9, {range(20, 30)}), merged(40), merged(5, even), merged(9, odd)};
  for (const MergedWatermark& a : some) {
    for (const MergedWatermark& b : some) {
      const MergedWatermark both = most(a, b);
      CHECK(covers_all(both, a));
      CHECK(covers_all(both, b));
    }
  }
  CHECK(most(merged(5, {range(7, 12)}), merged(6)) == merged(6, {range(7, 12)}));
}

TEST_CASE("shard state: the least of two is covered by both") {
  CHECK_FALSE(least({}, merged(5)).has_value());
  CHECK_FALSE(least(merged(5), {}).has_value());
  CHECK(least(merged(5), merged(9)) == merged(5));
  CHECK(least(merged(9), merged(5)) == merged(5));
  const std::vector<MergedWatermark> some = {
      merged(5), merged(9), merged(5, {range(7, 12)}), merged(5, {range(20, 30)}), merged(9, {range(20, 30)}),
      merged(15), merged(40)};
  for (const MergedWatermark& a : some) {
    for (const MergedWatermark& b : some) {
      const auto both = least(a, b);
      CHECK(covers_all(a, both));
      CHECK(covers_all(b, both));
    }
  }
}

TEST_CASE("shard state: what a writer finds instead of its own tells whether it may go on") {
  const ShardState known{{5, 100}, merged(50), 7};
  CHECK(judge_shard(ShardState{{5, 100}, merged(60), 7}, known) == ShardStanding::kOurs);
  CHECK(judge_shard(ShardState{{5, 100}, merged(50), 7}, known) == ShardStanding::kOurs);
  CHECK(judge_shard(ShardState{{5, 100}, merged(40), 7}, known) == ShardStanding::kWentBack);
  CHECK(judge_shard(ShardState{{5, 100}, {}, 7}, known) == ShardStanding::kWentBack);
  CHECK(judge_shard(ShardState{{6, 1}, merged(50), 7}, known) == ShardStanding::kTaken);
  CHECK(judge_shard(ShardState{{5, 101}, merged(50), 7}, known) == ShardStanding::kTaken);
  CHECK(judge_shard(ShardState{{5, 99}, merged(50), 7}, known) == ShardStanding::kWentBack);
  CHECK(judge_shard(ShardState{{4, 200}, merged(90), 7}, known) == ShardStanding::kWentBack);
  CHECK(judge_shard(ShardState{{5, 100}, merged(50), 8}, known) == ShardStanding::kOurs);
  CHECK(judge_shard(ShardState{{5, 100}, merged(50), 6}, known) == ShardStanding::kWentBack);
  CHECK(judge_shard(std::nullopt, known) == ShardStanding::kWentBack);
}
