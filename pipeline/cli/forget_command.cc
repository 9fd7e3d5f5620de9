#include "serving/forget_command.h"

#include <iostream>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {

int forget_command(const ForgetArgs& args) {
  ForgetOptions options;
  options.server = args.server;
  options.tls = args.tls;
  options.user = args.user;
  options.scene = args.scene;
  options.all_scenes = args.all_scenes;
  options.items = args.items;
  options.everything = args.everything;
  options.text = args.output == OutputFormat::kText;
  options.deadline_ms = args.timeout_ms;
  return run_client(!options.text, [&](std::ostream& errors) { return forget(options, std::cout, errors); });
}

}  // namespace bloomring::cli
