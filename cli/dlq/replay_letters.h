// `bloomring dlq replay`: the plan of putting dead letters back, or doing it.
//
// Threading: the main thread, which holds the stop signals.
#pragma once

#include "base/result.h"
#include "cli/dlq/dlq_commands.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

// Prints the plan or the report, and returns the exit code.
Result<int> replay_letters(const DlqArgs& args, const Settings& settings);

}  // namespace bloomring::cli
