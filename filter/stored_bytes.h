// The length of a filter value by the number of its items alone, for plans of capacity: the decisions of the ladder and
// the lengths of the format, without any items.
//
// Exact but for two effects of chance: items whose fingerprints coincide count as their expected number, and beyond
// kItemsPlanned the order in which items arrived decides how many of them are narrow; here all that fit are.
// Threading: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "filter/format.h"
#include "filter/ladder.h"

namespace bloomring::filter {

// The expected number of distinct fingerprints of this width among those of `items` items: at least 1.
inline uint64_t distinct_fingerprints(uint64_t items, uint32_t width_bits) {
  const double space = std::ldexp(1.0, static_cast<int>(width_bits));
  const double distinct = -space * std::expm1(static_cast<double>(items) * std::log1p(-1 / space));
  return std::clamp<uint64_t>(static_cast<uint64_t>(std::llround(distinct)), 1, items);
}

// The value of a period that holds these items, at least one, after the union of all its operands. `closed`: the
// period is over, and the value was united once since.
inline uint64_t stored_bytes(uint64_t items, const Policy& policy, bool closed) {
  const Ladder ladder = ladder_of(policy);
  const uint64_t most = ladder.capacity(ladder.narrow_bits);
  PartSizes sizes{.narrow_items = distinct_fingerprints(std::min(items, most), ladder.narrow_bits),
                  .narrow_width_bits = ladder.narrow_bits};
  if (items > most) {
    sizes.wide_items = items - most;
    sizes.wide_width_bits = ladder.wide_bits;
  }
  const UnionPlan plan = plan_union(ladder, {.items = sizes.narrow_items + sizes.wide_items,
                                             .new_items = sizes.wide_items,
                                             .narrow_width_bits = sizes.narrow_width_bits,
                                             .closed = closed});
  if (plan.fold)
    sizes = {.narrow_items = distinct_fingerprints(items, plan.narrow_width_bits),
             .narrow_width_bits = plan.narrow_width_bits};
  sizes.index = takes_index(policy, sizes.narrow_items + sizes.wide_items);
  return assembled_bytes(sizes);
}

// The operand of a batch with these items, at least one.
inline uint64_t operand_bytes(uint64_t items, const Policy& policy) {
  return assembled_bytes({.wide_items = items, .wide_width_bits = ladder_of(policy).wide_bits});
}

}  // namespace bloomring::filter
