// Checks that settings that are each valid fit together. The second half of load_settings.
#pragma once

#include <string>
#include <vector>

#include "base/config/config.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// kInvalid with a line for each fault, led by the place where the value was set. Appends warnings about values that
// are allowed but probably not meant. Whether memory.limit is enough is checked if `plans_memory`.
Status check_settings_fit(const Settings& settings, const Config& config, std::vector<std::string>& warnings,
                          bool plans_memory = true);

}  // namespace bloomring
