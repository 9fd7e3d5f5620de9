#include "pipeline/plan/plan_result.h"

#include <algorithm>

#include "base/result.h"

namespace bloomring {

void PlanResult::add(std::string_view group, std::string name, PlanRange figure, std::string_view unit,
                     std::vector<std::string_view> from) {
  rows.push_back({group, std::move(name), figure, unit, std::move(from)});
}

const PlanRow& PlanResult::row(std::string_view name) const {
  const auto found = std::ranges::find(rows, name, &PlanRow::name);
  BLOOMRING_CHECK(found != rows.end(), "a plan without the row " + std::string(name));
  return *found;
}

}  // namespace bloomring
