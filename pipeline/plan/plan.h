// The plan of capacity: from users, plays and a kind of machine to processes, CPU, memory, bytes, times and machines.
//
//   PlanInput (a site and its machines)  ->  make_plan  ->  PlanResult (rows with their origin, findings)
//
// Sizes come from the code that runs: filters from the filter library, keys and records from the writers of their
// formats, the passes of a drain from the drain, the memory of a process from its memory plan. Times and CPU come from
// the constants (plan_constants.h), which are measured or assumed. Every row names its constants, and has the range
// that they leave.
//
// All rows are for the fullest slot of a day unless their name says "mean" or "a day".
// Threading: pure functions and values.
// Errors: as check_plan_input.
#pragma once

#include "base/result.h"
#include "pipeline/plan/plan_input.h"
#include "pipeline/plan/plan_result.h"

namespace bloomring {

Result<PlanResult> make_plan(const PlanInput& input);

}  // namespace bloomring
