// The ladder: how wide fingerprints are, when a set gets an index, folds, takes a second set, is saturated.
//
// A value holds up to two sets. The narrow one costs few bits and holds everything while the period is no larger than
// planned. The wide one takes what comes after that, and is what operands are made of: bits that were cut cannot be
// had back, so an operand keeps them until it meets the value that it belongs to. All decisions are pure functions of
// the policy and of counts; docs/decisions/0008-dense-form.md has the measurements.
#pragma once

#include <cstdint>

#include "filter/filter.h"

namespace bloomring::filter {

// The most items of a period that the narrow set is planned for, and the most that the budget holds for at all.
inline constexpr uint64_t kItemsPlanned = uint64_t{1} << 17;
inline constexpr uint64_t kItemsCap = uint64_t{1} << 21;

struct Ladder {
  double share = 0;          // The error that one value may have: false_positive_rate / periods_read.
  uint32_t gap_bits = 0;     // A narrow set of n items is as wide as log2(n) + gap: error 2^-gap <= 0.8 share.
  uint32_t narrow_bits = 0;  // Of an open period: holds kItemsPlanned.
  uint32_t wide_bits = 0;    // kItemsCap of these stay within what the narrow set leaves of the share.

  // The most items that a narrow set of this width may hold.
  uint64_t capacity(uint32_t width_bits) const;
  // The fewest bits that hold so many items.
  uint32_t folded_bits(uint64_t items) const;
};

// 0.01 for 4 periods: share 0.0025, gap 9, narrow 26, wide 32.
Ladder ladder_of(const Policy& policy);

// What is known about a union before it is decided.
struct UnionFacts {
  uint64_t items = 0;              // Distinct, all together, at the width of the narrow set (or of a new one).
  uint64_t new_items = 0;          // Of these, the ones that are in no narrow set yet.
  uint32_t narrow_width_bits = 0;  // Of the narrow set at hand; 0: there is none.
  bool closed = false;
};

struct UnionPlan {
  bool keep_wide = false;          // What is not in the narrow set stays in a wide one.
  uint32_t narrow_width_bits = 0;  // Of the narrow set to write; the one at hand unless it folds or there is none.
  bool fold = false;               // The narrow set is cut to narrow_width_bits because the period has come to rest.
};

UnionPlan plan_union(const Ladder& ladder, const UnionFacts& facts);

// A set of so many items is written with an index.
bool takes_index(const Policy& policy, uint64_t items);

// The error budget does not hold any more: too many items, or too many of them narrow.
bool is_saturated(const Ladder& ladder, uint64_t items, double expected_error);

}  // namespace bloomring::filter
