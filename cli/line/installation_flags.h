// The flags of the commands about an installation, its brokers, its store and its processes: check, topics, inspect,
// status, store, log-level, bundle, topology, acls.
// Threading: as CLI11: one thread.
#pragma once

#include "cli/commands.h"
#include "cli/line/flags.h"

namespace bloomring::cli {

struct InstallationArgs {
  CheckArgs check;
  TopicsArgs topics;
  InspectArgs inspect;
  StatusArgs status;
  StoreArgs store;
  LogLevelArgs log_level;
  BundleArgs bundle;
  TopologyArgs topology;
  AclsArgs acls;
};

// Declares the commands. Parsing fills in `args` and sets `chosen` to the command that was typed; both outlive `app`.
void declare_installation(CLI::App& app, InstallationArgs& args, Chosen& chosen);

}  // namespace bloomring::cli
