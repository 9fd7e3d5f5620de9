#include "pipeline/settings/keys/load_settings.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/config/finding.h"
#include "pipeline/settings/keys/all_keys.h"
#include "pipeline/settings/keys/settings_check.h"
#include "pipeline/settings/keys/topic_keys.h"

namespace bloomring {
namespace {

Result<std::string> host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return invalid("this host has no name; set instance");
  return std::string(name);
}

// The errors of reading, followed by the faults among the other keys. It leaves out faults of keys that could not be
// read, and all of them when the file could not be read: those values are not the intended ones.
Status with_faults(const Status& unread, const Status& faults) {
  std::vector<std::string> doubtful;
  for (const SetupFinding& finding : findings_of(unread)) doubtful.push_back(finding.key);
  std::string text = unread.message();
  for (const SetupFinding& fault : findings_of(faults)) {
    const auto named = [&](const std::string& key) { return fault.text.find(key) != std::string::npos; };
    if (std::none_of(doubtful.begin(), doubtful.end(), named)) text += "\n" + fault.text;
  }
  return invalid(text);
}

}  // namespace

Result<LoadedSettings> load_settings(const ConfigSources& sources, Topology topology, LogSettings* log,
                                     const std::optional<HostFacts>& host) {
  LoadedSettings loaded;
  Config config;
  declare_settings(config, loaded.settings, topology);
  Status read = config.load(sources);
  if (log != nullptr) *log = loaded.settings.log;
  loaded.warnings = config.warnings();
  std::ranges::sort(loaded.settings.stages);  // Rows of one table: the order of the flow.
  if (host) read = find_settings(*host, loaded.settings, config, loaded.sources, read);
  const bool plans_memory = host.has_value();
  if (!read.ok()) {
    return with_faults(read, check_settings_fit(loaded.settings, config, loaded.warnings, plans_memory));
  }
  if (loaded.settings.instance.empty()) {
    BLOOMRING_TRY_ASSIGN(loaded.settings.instance, host_name());
  }
  BLOOMRING_TRY(check_settings_fit(loaded.settings, config, loaded.warnings, plans_memory));
  if (host) warn_of_bound(*host, loaded.settings, config, loaded.warnings);
  note_places(config, loaded.settings.topics);
  loaded.effective_yaml = config.effective_yaml();
  return loaded;
}

Result<LoadedSettings> load_settings(const std::string& path, std::vector<ConfigFlag> overrides, Topology topology,
                                     LogSettings* log, const std::optional<HostFacts>& host) {
  return load_settings(
      ConfigSources{.path = path, .environment = process_environment(), .flags = std::move(overrides)}, topology, log,
      host);
}

}  // namespace bloomring
