// The keys under `events`: the format of a site's plays.
// Threading: as Config.
#pragma once

#include "base/config/config.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// Opens the section and declares its keys, bound to `events`, which outlives the configuration.
void declare_events(Config& config, EventSettings& events);

}  // namespace bloomring
