#include <unistd.h>

#include <string>

#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/admin/admin_client.h"
#include "pipeline/runtime/signals.h"

namespace bloomring::cli {

namespace {

constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";

Result<std::string> admin_of(const StatusArgs& args) {
  if (!args.admin.empty()) return args.admin;
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  return settings.admin.listen;
}

Result<std::string> page_of(const StatusArgs& args, const std::string& admin) {
  auto page = get_admin_page(admin, args.output == OutputFormat::kJson ? "/?format=json" : "/?format=text");
  if (page.ok()) return page;
  return page.status().with_context("the process at " + admin +
                                    " (--admin HOST:PORT, its admin.listen) does not answer with its page");
}

// Shows the page, or why there is none, until a signal comes or standard output cannot be written.
int watch(const StatusArgs& args, const std::string& admin) {
  hold_stop_signals();
  const bool terminal = isatty(STDOUT_FILENO) != 0 && args.output == OutputFormat::kText;
  for (bool first = true;; first = false) {
    const auto page = page_of(args, admin);
    const std::string shown = page.ok() ? *page : "bloomring: " + page.status().message() + "\n";
    const bool gap = !first && !terminal && args.output == OutputFormat::kText;
    if (page.ok() || args.output == OutputFormat::kText) {
      print((terminal ? std::string(kClearScreen) : gap ? "\n" : "") + shown);
    } else {
      report(page.status());
    }
    if (const int code = finish_output(0); code != 0) return code;
    if (stop_signal_within(static_cast<int>(args.every_seconds) * 1000)) return 0;
  }
}

}  // namespace

int status_command(const StatusArgs& args) {
  const auto admin = admin_of(args);
  if (!admin.ok()) return report(admin.status());
  if (args.watch) return watch(args, *admin);
  const auto page = page_of(args, *admin);
  if (!page.ok()) return report(page.status());
  print(*page);
  return finish_output(0);
}

}  // namespace bloomring::cli
