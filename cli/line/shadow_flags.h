// The flags of `bloomring shadow`.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/line/flags.h"
#include "cli/shadow/shadow_command.h"

namespace bloomring::cli {

// As declare_installation.
void declare_shadow(CLI::App& app, ShadowArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
