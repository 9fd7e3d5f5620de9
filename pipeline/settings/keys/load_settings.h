// Loads the settings of a process from its configuration.
//
// Guarantees: loaded settings are valid as a whole: each value is in its range and all fit together. That the memory is
// enough, and what is found on the host, is of processes that run stages there: without `host`, neither is looked at,
// so that a command can read the configuration of another machine.
// Errors: kInvalid, with a line for each error (base/config/config.h).
// Threading: reads the environment of the process; otherwise as Config.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/config/config.h"
#include "base/result.h"
#include "pipeline/settings/keys/found_settings.h"
#include "pipeline/settings/settings.h"
#include "pipeline/settings/topology.h"

namespace bloomring {

// Settings with warnings, and the origin of each value.
struct LoadedSettings {
  Settings settings;
  std::vector<std::string> warnings;  // Of values that are allowed but probably not meant.
  std::vector<SettingSource> sources;  // Of settings that may be found on the host; none without one.
  std::string effective_yaml;         // Every key with its value and origin; secrets are hidden.
};

// `log` is set to what the sources say of the log, as far as they do, also on failure: so that it can be told there.
// `host` is where the stages are to run.
Result<LoadedSettings> load_settings(const ConfigSources& sources, Topology topology, LogSettings* log = nullptr,
                                     const std::optional<HostFacts>& host = HostFacts{});
// From the file (none when empty), the environment of this process and the overrides.
Result<LoadedSettings> load_settings(const std::string& path, std::vector<ConfigFlag> overrides, Topology topology,
                                     LogSettings* log, const std::optional<HostFacts>& host);

}  // namespace bloomring
