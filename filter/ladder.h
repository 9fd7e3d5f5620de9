// The ladder decides how wide fingerprints are, and when a value gets an index, folds, takes a second set or is
// saturated.
//
// A value holds up to two sets. The narrow set costs few bits and holds everything while the period is no larger than
// planned. The wide set takes the items after that. Operands are wide sets: cut bits cannot be restored, so an operand
// keeps them until it meets its value. All decisions are pure functions of the policy and of counts;
// docs/decisions/0008-dense-form.md has the measurements.
#pragma once

#include <cstdint>

#include "filter/policy.h"

namespace bloomring::filter {

// The most items of a period that the narrow set is planned for, and the most for which the budget holds.
inline constexpr uint64_t kItemsPlanned = uint64_t{1} << 17;
inline constexpr uint64_t kItemsCap = uint64_t{1} << 21;

struct Ladder {
  double share = 0;          // The error that one value may have: false_positive_rate / periods_read.
  uint32_t error_bits = 0;   // A narrow set of n items is log2(n) + error_bits wide: error 2^-error_bits <= 0.8 share.
  uint32_t narrow_bits = 0;  // Of an open period: holds kItemsPlanned.
  uint32_t wide_bits = 0;    // kItemsCap of these stay within the part of the share that the narrow set leaves.

  // The most items that a narrow set of this width may hold.
  uint64_t capacity(uint32_t width_bits) const;
  // The fewest bits that hold this many items.
  uint32_t folded_bits(uint64_t items) const;
};

// 0.01 for 4 periods: share 0.0025, error bits 9, narrow 26, wide 32.
Ladder ladder_of(const Policy& policy);

// The facts about a union before the decision.
struct UnionFacts {
  uint64_t items = 0;              // Distinct, all together, at the width of the narrow set (or of a new one).
  uint64_t new_items = 0;          // Of these, the ones that are in no narrow set yet.
  uint32_t narrow_width_bits = 0;  // Of the narrow set at hand; 0: none.
  bool closed = false;
};

struct UnionPlan {
  bool keep_wide = false;          // Items that are not in the narrow set stay in a wide one.
  uint32_t narrow_width_bits = 0;  // Of the narrow set to write; the one at hand unless it folds or there is none.
  bool fold = false;               // The period rests: the narrow set is cut to narrow_width_bits.
};

UnionPlan plan_union(const Ladder& ladder, const UnionFacts& facts);

// True when a set of this many items is written with an index.
bool takes_index(const Policy& policy, uint64_t items);

// True when the error budget no longer holds: too many items, or too many of them narrow.
bool is_saturated(const Ladder& ladder, uint64_t items, double expected_error);

}  // namespace bloomring::filter
