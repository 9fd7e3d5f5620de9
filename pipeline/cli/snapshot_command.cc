#include "serving/snapshot_command.h"

#include <unistd.h>

#include <iostream>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int snapshot_command(const SnapshotArgs& args) {
  if (!args.test && isatty(STDOUT_FILENO) != 0) {
    return report(
        invalid("a snapshot is binary, and standard output is a terminal: send it to a file (> user.snapshot), or test "
                "items against it with --test"));
  }
  SnapshotOptions options;
  options.server = args.server;
  options.tls = args.tls;
  options.user = args.user;
  options.scene = args.scene;
  options.strict = args.strict;
  options.from = args.from;
  options.test = args.test;
  options.items = args.items;
  options.text = args.output == OutputFormat::kText;
  options.deadline_ms = args.timeout_ms;
  const bool json = options.test && !options.text;
  return run_client(json, [&](std::ostream& errors) { return snapshot(options, std::cin, std::cout, errors); });
}

}  // namespace bloomring::cli
