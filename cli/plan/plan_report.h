// A plan of capacity as text and as JSON.
// Threading: pure functions.
#pragma once

#include <string>

#include "pipeline/plan/plan_input.h"
#include "pipeline/plan/plan_result.h"

namespace bloomring::cli {

// A line for each row: the figure, its range where it has one, and where it comes from; then the constants.
std::string plan_text(const PlanInput& input, const PlanResult& plan);
// {"input":{...},"fits":true,"findings":[],"rows":[{"group","name","low","mid","high","unit","from":[]}],
//  "constants":[{"name","low","mid","high","unit","source","reason"}]}; a source of an assumed constant is "assumed".
std::string plan_json(const PlanInput& input, const PlanResult& plan);

// For people: 64300 plays/s is "64,300 plays/s", 7.3e12 bytes are "6.6 TiB", 4000 s are "67 min".
std::string figure_text(double value, std::string_view unit);
// "6.6 TiB (5.9 TiB to 7.8 TiB)"; the figure alone where the ends read like it.
std::string range_text(const PlanRange& figure, std::string_view unit);

}  // namespace bloomring::cli
