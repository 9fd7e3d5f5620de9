// The flags of `bloomring dlq`.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/dlq/dlq_commands.h"
#include "cli/line/flags.h"

namespace bloomring::cli {

// As declare_installation.
void declare_dlq(CLI::App& app, DlqArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
