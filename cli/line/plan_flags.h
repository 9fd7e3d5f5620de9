// The flags of `bloomring plan`.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/line/flags.h"
#include "cli/plan/plan_command.h"

namespace bloomring::cli {

// `args` and `chosen` outlive `app`.
void declare_plan(CLI::App& app, PlanArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
