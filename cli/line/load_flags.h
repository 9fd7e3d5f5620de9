// The flags of the commands that make plays and calls like a site's: generate, load.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/commands.h"
#include "cli/line/flags.h"

namespace bloomring::cli {

struct LoadCommandArgs {
  GenerateArgs generate;
  LoadArgs load;
};

// Declares the commands. Parsing fills in `args` and sets `chosen` to the command that was typed; both outlive `app`.
void declare_loads(CLI::App& app, LoadCommandArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
