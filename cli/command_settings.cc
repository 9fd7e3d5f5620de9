#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/log.h"
#include "cli/commands.h"
#include "pipeline/stages/topology.h"

namespace bloomring::cli {

namespace {

Status check_readable(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || (file && (file.peek(), !file.bad()))) return {};
  return invalid("--config: '" + path + "' cannot be read: " + std::strerror(errno) +
                 "; name a YAML file with settings that this user may read");
}

}  // namespace

Result<LoadedSettings> load_all_settings(const ConfigArgs& args, SettingsUse use, LogSettings* log) {
  std::vector<ConfigFlag> flags = args.overrides;
  for (const std::string& text : args.sets) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) return invalid("--set " + text + ": it must be KEY=VALUE, as --set ring.slots=5");
    flags.push_back({text.substr(0, equals), text.substr(equals + 1), "--set " + text.substr(0, equals)});
  }
  BLOOMRING_TRY(check_readable(args.path));
  const auto host = use == SettingsUse::kRunStages ? std::optional(host_facts()) : std::nullopt;
  return load_settings(args.path, std::move(flags), topology(), log, host);
}

Result<Settings> load_command_settings(const ConfigArgs& args, SettingsUse use, std::string* effective_yaml) {
  LogSettings log;
  auto loaded = load_all_settings(args, use, &log);
  log_start(log.level, log.format);
  BLOOMRING_TRY(loaded.status());
  for (const std::string& warning : loaded->warnings) log_warning(warning);
  if (effective_yaml != nullptr) *effective_yaml = std::move(loaded->effective_yaml);
  return std::move(loaded->settings);
}

}  // namespace bloomring::cli
