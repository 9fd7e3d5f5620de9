#include <unistd.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/output.h"

namespace bloomring::cli {

int query_command(QueryArgs args) {
  args.text = args.output == OutputFormat::kText;
  return run_client(!args.text, [&](std::ostream& errors) { return query(args, std::cin, std::cout, errors); });
}

int served_command(ServedArgs args) {
  args.text = args.output == OutputFormat::kText;
  return run_client(!args.text, [&](std::ostream& errors) { return served(args, std::cin, std::cout, errors); });
}

int forget_command(ForgetArgs args) {
  args.text = args.output == OutputFormat::kText;
  return run_client(!args.text, [&](std::ostream& errors) { return forget(args, std::cout, errors); });
}

int snapshot_command(SnapshotArgs args) {
  if (!args.test && isatty(STDOUT_FILENO) != 0) {
    return report(
        invalid("a snapshot is binary, and standard output is a terminal: send it to a file (> user.snapshot), or test "
                "items against it with --test"));
  }
  args.text = args.output == OutputFormat::kText;
  const bool json = args.test && !args.text;
  return run_client(json, [&](std::ostream& errors) { return snapshot(args, std::cin, std::cout, errors); });
}

}  // namespace bloomring::cli
