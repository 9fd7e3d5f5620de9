#include "schemas/legacy/migrated_marks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/hash.h"

namespace bloomring {

namespace {

// 0.01 gives 6. Above 0.5 no number of marks is worth its bytes, and nobody has such filters.
constexpr double kRateLeast = 1e-6, kRateMost = 0.5;

}  // namespace

std::vector<ItemHash> migrated_marks(std::string_view key, double false_positive_rate) {
  const double rate = std::clamp(false_positive_rate, kRateLeast, kRateMost);
  const auto count = static_cast<size_t>(std::ceil(std::log(kMarksWrongMax) / std::log(rate) - 1e-9));
  std::vector<ItemHash> marks;
  for (size_t i = 0; i < count; ++i)
    marks.push_back(item_hash("\xff migrated " + std::to_string(i) + " " + std::string(key)));
  return marks;
}

}  // namespace bloomring
