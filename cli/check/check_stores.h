// Checks the folders of a configuration for `bloomring check`: the filter store and the window stage's state, opened
// for reading while other processes may write them.
#pragma once

#include "cli/check/check_report.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

// Whether an hour can be written in an hour; asks no server.
void check_writes(const Settings& settings, CheckReport& report);
void check_store(const Settings& settings, CheckReport& report);
void check_state(const Settings& settings, CheckReport& report);

}  // namespace bloomring::cli
