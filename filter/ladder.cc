#include "filter/ladder.h"

#include <algorithm>
#include <cmath>

#include "filter/bits.h"
#include "filter/elias_fano.h"

namespace bloomring::filter {

namespace {

constexpr double kNarrowPart = 0.8;    // Of the share; the rest is for the wide set.
constexpr uint32_t kErrorBitsMax = 32;   // An error of 2^-32 a value: more would not fit kWidthBitsMax.
constexpr uint64_t kRestingParts = 8;  // A closed period rests when at most an eighth of it is new.

// The smallest b in [0, most] with scale * 2^-b <= limit.
uint32_t bits_for(double scale, double limit, uint32_t most) {
  uint32_t bits = 0;
  for (; bits < most && scale > limit; ++bits) scale /= 2;
  return bits;
}

}  // namespace

Ladder ladder_of(const Policy& policy) {
  Ladder ladder;
  ladder.share = policy.false_positive_rate / std::max(policy.periods_read, 1u);
  ladder.error_bits = bits_for(1.0, kNarrowPart * ladder.share, kErrorBitsMax);
  ladder.narrow_bits = ladder.error_bits + ceil_log2(kItemsPlanned);
  const double left = ladder.share - std::ldexp(1.0, -static_cast<int>(ladder.error_bits));
  ladder.wide_bits = bits_for(static_cast<double>(kItemsCap), left, kWidthBitsMax);
  return ladder;
}

uint64_t Ladder::capacity(uint32_t width_bits) const {
  return width_bits < error_bits ? 0 : uint64_t{1} << (width_bits - error_bits);
}

uint32_t Ladder::folded_bits(uint64_t items) const { return std::clamp(ceil_log2(items) + error_bits, 1u, wide_bits); }

UnionPlan plan_union(const Ladder& ladder, const UnionFacts& facts) {
  const bool has_narrow = facts.narrow_width_bits != 0;
  UnionPlan plan;
  plan.narrow_width_bits = has_narrow ? facts.narrow_width_bits : ladder.narrow_bits;
  const bool fits = facts.items <= ladder.capacity(plan.narrow_width_bits);
  // More items than the narrow set may hold: its items stay narrow, the others stay wide.
  plan.keep_wide = !fits && facts.new_items > 0;

  const bool rests = facts.closed && (has_narrow ? facts.new_items * kRestingParts <= facts.items : !fits);
  const uint32_t folded_bits = ladder.folded_bits(facts.items);
  const bool can_fold = !has_narrow || folded_bits < facts.narrow_width_bits;
  if (rests && can_fold) {
    plan.fold = true;
    plan.keep_wide = false;
    plan.narrow_width_bits = folded_bits;
  }
  return plan;
}

bool takes_index(const Policy& policy, uint64_t items) { return items >= policy.dense_from_items; }

bool is_saturated(const Ladder& ladder, uint64_t items, double expected_error) {
  return items > kItemsCap || expected_error > ladder.share;
}

}  // namespace bloomring::filter
