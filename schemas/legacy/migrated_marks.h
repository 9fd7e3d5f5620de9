// The mark of a set of the old store that was migrated: plays of items that nobody can play.
//
// The migration appends them to the log behind the plays of the set. So they take the way of all plays: a query that
// sees the marks in memory or in filters sees the plays, too, whatever is merged and dropped meanwhile
// (docs/decisions/0064-a-migrated-set-is-marked-by-plays.md). Their ids are no UTF-8, so no caller can name them.
//
// A filter may show an item that is not in it. A set has so many marks that all of them together are shown wrongly with
// a probability of at most kWrongMax.
// Threading: pure functions.
#pragma once

#include <string_view>
#include <vector>

#include "base/ids.h"

namespace bloomring {

inline constexpr double kMarksWrongMax = 1e-12;

// The marks of the set under this key. `false_positive_rate`: the error of an answer, filter.false_positive_rate.
std::vector<ItemHash> migrated_marks(std::string_view key, double false_positive_rate);

}  // namespace bloomring
