#include "serving/served_command.h"

#include <iostream>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int served_command(const ServedArgs& args) {
  ServedOptions options;
  options.server = args.server;
  options.tls = args.tls;
  options.user = args.user;
  options.scene = args.scene;
  options.items = args.items;
  options.text = args.output == OutputFormat::kText;
  options.deadline_ms = args.timeout_ms;
  return run_client(!options.text, [&](std::ostream& errors) { return served(options, std::cin, std::cout, errors); });
}

}  // namespace bloomring::cli
