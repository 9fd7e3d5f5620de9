#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/admin/admin_client.h"
#include "pipeline/admin/admin_token.h"
#include "pipeline/admin/log_level_action.h"

namespace bloomring::cli {

namespace {

Result<std::string> ask(const LogLevelArgs& args, const Settings& settings) {
  const std::string address = args.admin.empty() ? settings.admin.listen : args.admin;
  const std::string way_out = "name the admin port of the process with --admin HOST:PORT (its admin.listen)";
  if (args.level.empty()) {
    auto page = get_admin_page(address, kLogLevelPath);
    return page.ok() ? page : Result<std::string>(page.status().with_context(way_out));
  }
  const std::string file = admin_token_path(settings.admin.token_file, settings.store.path);
  const auto token = read_admin_token(file);
  if (!token.ok()) return token.status().with_context("the process asks for the token of its admin port");
  const auto answer = post_admin_action(address, kLogLevelPath + ("/" + args.level), *token);
  if (!answer.ok()) return answer.status().with_context(way_out);
  if (answer->status != 200) return fatal("the process at " + address + " says: " + answer->body);
  return answer->body;
}

}  // namespace

int log_level_command(const LogLevelArgs& args) {
  const bool json = args.output == OutputFormat::kJson;
  const auto settings = load_command_settings(args.config);
  if (!settings.ok()) return report_result(settings.status(), json);
  const auto told = ask(args, *settings);
  if (!told.ok()) return report_result(told.status(), json);
  const auto levels = nlohmann::json::parse(*told, nullptr, /*allow_exceptions=*/false);
  if (!levels.is_object()) return report_result(fatal("no bloomring process: it says " + *told), json);
  const std::string level = levels.value("level", ""), configured = levels.value("configured", "");
  print(json ? levels.dump() + "\n" : level + (level == configured ? "" : ", configured is " + configured) + "\n");
  return finish_output(0);
}

}  // namespace bloomring::cli
