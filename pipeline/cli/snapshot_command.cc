#include "serving/snapshot_command.h"

#include <iostream>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int snapshot_command(const SnapshotArgs& args) {
  SnapshotOptions options;
  options.server = args.server;
  options.tls = args.tls;
  options.user = args.user;
  options.scene = args.scene;
  options.strict = args.strict;
  options.from = args.from;
  options.test = args.test;
  options.items = args.items;
  options.deadline_ms = args.timeout_ms;
  return finish_output(snapshot(options, std::cin, std::cout, std::cerr));
}

}  // namespace bloomring::cli
