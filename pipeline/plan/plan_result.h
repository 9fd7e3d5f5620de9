// The result of a plan of capacity: figures with their origin.
// Threading: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan/plan_range.h"

namespace bloomring {

struct PlanRow {
  std::string_view group;  // "store"
  std::string name;        // "bytes of a filter, open period"
  PlanRange figure;
  std::string_view unit;  // "bytes", "bytes/s", "plays/s", "events/s", "s", "us", "cores", "%", "" for numbers.
  std::vector<std::string_view> from;  // Names of constants, "input", or the file that computes it.
};

struct PlanResult {
  std::vector<PlanRow> rows;  // By group.
  std::vector<std::string> findings;  // What does not fit, with the way out; empty: the plan holds.
  // Appends a row.
  void add(std::string_view group, std::string name, PlanRange figure, std::string_view unit,
           std::vector<std::string_view> from);
  void add(std::string_view group, std::string name, double figure, std::string_view unit,
           std::vector<std::string_view> from) {
    add(group, std::move(name), PlanRange::exactly(figure), unit, std::move(from));
  }
  // The row with this name. Fails a check for a name without a row.
  const PlanRow& row(std::string_view name) const;
};

}  // namespace bloomring
