#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "cli/admin/tar_file.h"
#include "cli/commands.h"
#include "cli/new_file.h"
#include "cli/output.h"
#include "pipeline/admin/admin_client.h"
#include "pipeline/admin/log_level_action.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Page {
  const char* path;
  const char* name;  // In the bundle.
};
constexpr Page kPages[] = {{"/version", "process.json"},      {"/status", "status.json"},
                           {"/readyz", "readyz.json"},        {"/healthz", "healthz.json"},
                           {kLogLevelPath, "log_level.json"}, {"/metrics", "metrics.txt"}};

constexpr const char* kReadMe =
    "A bundle of `bloomring bundle`, for a bug report.\n\n"
    "configuration.yaml  every key with its value and its origin; secrets are \"***\"\n"
    "configuration.txt   the faults and warnings of the configuration\n"
    "versions.json       of this program and its libraries\n"
    "topology.json       stages and topics of this program\n"
    "process.json and the others: pages of the admin port; missing.txt names those that were not had\n\n"
    "It has no ids of users, no plays, no keys and no passwords. It has names of hosts, folders and topics.\n"
    "It has no lines of the log: add them, as `journalctl -u bloomring` or your collector shows them.\n";

// Adds the configuration in force, and its faults and warnings.
void add_configuration(const Result<LoadedSettings>& loaded, std::vector<TarPart>& parts) {
  std::string text = loaded.ok() ? "" : loaded.status().message() + "\n";
  if (loaded.ok()) {
    parts.push_back({"configuration.yaml", loaded->effective_yaml});
    for (const std::string& warning : loaded->warnings) text += "warning: " + warning + "\n";
  }
  parts.push_back({"configuration.txt", text.empty() ? "no faults, no warnings\n" : text});
}

// Also an answer that is no success: a process that is not ready says why.
void add_pages(const std::string& address, std::vector<TarPart>& parts, std::string& missing) {
  for (const Page& page : kPages) {
    const auto answer = read_admin_page(address, page.path);
    if (answer.ok() && (answer->status == 200 || answer->status == 503)) {
      parts.push_back({page.name, answer->body});
    } else {
      missing += std::string(page.name) + ": " + address + page.path + " " +
                 (answer.ok() ? "answered " + std::to_string(answer->status) : answer.status().message()) + "\n";
    }
  }
}

}  // namespace

int bundle_command(const BundleArgs& args) {
  LogSettings log;
  const auto loaded = load_all_settings(args.config, SettingsUse::kRead, &log);
  log_start(log.level, log.format);
  std::vector<TarPart> parts = {{"README.txt", kReadMe}};
  add_configuration(loaded, parts);
  parts.push_back({"versions.json", version_json()});
  parts.push_back({"topology.json", topology_json()});
  const std::string address = !args.admin.empty() ? args.admin : loaded.ok() ? loaded->settings.admin.listen : "";
  std::string missing = address.empty() ? "no page: the configuration has faults; name --admin HOST:PORT\n" : "";
  if (!address.empty()) add_pages(address, parts, missing);
  if (!missing.empty()) parts.push_back({"missing.txt", missing});
  if (const Status written = write_new("--to", args.to, tar_of(parts, SystemClock().now_ms())); !written.ok()) {
    return report_result(written, /*json=*/true);
  }
  Json names = Json::array();
  for (const TarPart& part : parts) names.push_back(part.name);
  print(Json{{"file", args.to}, {"parts", names}, {"complete", missing.empty()}}.dump() + "\n");
  if (missing.empty()) return finish_output(0);
  return finish_output(report(retry("the bundle lacks pages of the process:\n" + missing)));
}

}  // namespace bloomring::cli
