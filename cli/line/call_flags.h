// The flags of the commands that ask a running service about one user: query, served, snapshot, forget.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/commands.h"
#include "cli/line/flags.h"

namespace bloomring::cli {

struct CallArgs {
  QueryArgs query;
  ServedArgs served;
  SnapshotArgs snapshot;
  ForgetArgs forget;
};

// Declares the commands. Parsing fills in `args` and sets `chosen` to the command that was typed; both outlive `app`.
void declare_calls(CLI::App& app, CallArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
