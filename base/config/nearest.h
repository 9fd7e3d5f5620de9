// "Did you mean": the nearest of a few known names. For error messages only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

// Number of inserted, deleted, replaced or swapped neighbouring bytes between the two.
size_t edit_distance(std::string_view left, std::string_view right);

// The name in `known` that is nearest to `name`, or an empty string when each differs in more than a third of its
// letters. Among equals the first.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace bloomring
