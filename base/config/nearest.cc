#include "base/config/nearest.h"

#include <algorithm>

namespace bloomring {

size_t edit_distance(std::string_view left, std::string_view right) {
  // Optimal string alignment over three rows.
  std::vector<size_t> before(right.size() + 1), above(right.size() + 1), row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = above[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[right.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(name, candidate);
    if (distance * 3 > std::max(name.size(), candidate.size())) continue;
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace bloomring
