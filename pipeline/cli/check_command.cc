#include <nlohmann/json.hpp>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/output.h"

namespace bloomring::cli {
namespace {

using Json = nlohmann::ordered_json;

void print_verdict(const CheckArgs& args, const std::vector<std::string>& checked,
                   const std::vector<std::string>& warnings) {
  if (args.output == OutputFormat::kJson) {
    const Json verdict = {{"ok", true}, {"file", args.config.path}, {"checked", checked}, {"warnings", warnings}};
    return print(verdict.dump() + "\n");
  }
  for (const std::string& warning : warnings) print("warning: " + warning + "\n");
  for (const std::string& part : checked) print(part + ": ok\n");
}

}  // namespace

int check_command(const CheckArgs& args) {
  const Result<LoadedSettings> loaded = load_all_settings(args.config);
  if (!loaded.ok()) return report(loaded.status());
  if (args.print) {
    print(loaded->effective_yaml);
    return 0;
  }
  print_verdict(args, {"configuration"}, loaded->warnings);
  return 0;
}

}  // namespace bloomring::cli
