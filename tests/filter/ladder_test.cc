#include "filter/ladder.h"

#include <catch2/catch.hpp>

#include "filter/elias_fano.h"

using namespace bloomring::filter;

namespace {
UnionPlan plan(uint64_t items, uint64_t new_items, uint32_t narrow_bits, bool closed) {
  return plan_union(ladder_of(Policy{}), {items, new_items, narrow_bits, closed});
}
}  // namespace

TEST_CASE("ladder: 1 % for 4 periods gives 26 narrow and 32 wide bits") {
  const Ladder ladder = ladder_of(Policy{});
  CHECK(ladder.share == 0.0025);
  CHECK(ladder.error_bits == 9);
  CHECK(ladder.narrow_bits == 26);
  CHECK(ladder.wide_bits == 32);
  CHECK(ladder.capacity(26) == kItemsPlanned);
}

TEST_CASE("ladder: under any policy the planned items and the cap stay within the share") {
  for (const double rate : {0.1, 0.05, 0.01, 0.001, 1e-6}) {
    for (const uint32_t periods : {1u, 2u, 3u, 4u, 7u, 13u, 64u}) {
      const Ladder ladder = ladder_of({rate, periods, 4096});
      CAPTURE(rate, periods);
      CHECK(ladder.narrow_bits < ladder.wide_bits);
      CHECK(ladder.wide_bits <= kWidthBitsMax);
      const double narrow = static_cast<double>(kItemsPlanned) / static_cast<double>(uint64_t{1} << ladder.narrow_bits);
      const double wide = static_cast<double>(kItemsCap) / static_cast<double>(uint64_t{1} << ladder.wide_bits);
      CHECK(narrow + wide <= ladder.share);
      CHECK(narrow > 0.39 * ladder.share);  // Not wider than needed: one bit less would not do.
    }
  }
}

TEST_CASE("ladder: what fits the narrow set goes there, up to the last item") {
  CHECK_FALSE(plan(1, 1, 0, false).keep_wide);
  CHECK(plan(1, 1, 0, false).narrow_width_bits == 26);
  CHECK_FALSE(plan(kItemsPlanned, kItemsPlanned, 0, false).keep_wide);
  CHECK(plan(kItemsPlanned + 1, kItemsPlanned + 1, 0, false).keep_wide);
  CHECK_FALSE(plan(kItemsPlanned, 1, 26, false).keep_wide);
  CHECK(plan(kItemsPlanned + 1, 1, 26, false).keep_wide);
  CHECK_FALSE(plan(kItemsPlanned + 5, 0, 26, false).keep_wide);  // Nothing new: nothing to keep.
}

TEST_CASE("ladder: a closed period folds to the fewest bits once at most an eighth of it is new") {
  CHECK(plan(1000, 125, 26, true).fold);
  CHECK(plan(1000, 125, 26, true).narrow_width_bits == 19);
  CHECK_FALSE(plan(1000, 126, 26, true).fold);
  CHECK_FALSE(plan(1000, 0, 26, false).fold);   // Open.
  CHECK_FALSE(plan(1000, 1000, 0, true).fold);  // An operand alone.
  CHECK(plan(1024, 0, 26, true).narrow_width_bits == 19);
  CHECK(plan(1025, 0, 26, true).narrow_width_bits == 20);
  CHECK_FALSE(plan(1024, 0, 19, true).fold);    // As narrow as can be already.
  CHECK(plan(200'000, 200'000, 0, true).fold);  // All wide, too large to be an operand.
  CHECK(plan(200'000, 200'000, 0, true).narrow_width_bits == 27);
}

TEST_CASE("ladder: a folded set takes late items while it has room, then they stay wide") {
  CHECK_FALSE(plan(1024, 24, 19, true).keep_wide);
  CHECK(plan(1025, 25, 19, true).keep_wide);
}

TEST_CASE("ladder: the index begins at the threshold, at the first item when the threshold is 0") {
  Policy policy;
  CHECK_FALSE(takes_index(policy, 4095));
  CHECK(takes_index(policy, 4096));
  policy.dense_from_items = 0;
  CHECK(takes_index(policy, 1));
}

TEST_CASE("ladder: past the cap, or past the share, a value is saturated") {
  const Ladder ladder = ladder_of(Policy{});
  CHECK_FALSE(is_saturated(ladder, kItemsCap, 0.0025));
  CHECK(is_saturated(ladder, kItemsCap + 1, 0.001));
  CHECK(is_saturated(ladder, 10, 0.00251));
}
