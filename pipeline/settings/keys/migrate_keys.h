// The keys of the configuration under `migrate`: the old store of a site, and how it is read.
// Threading: as Config.
#pragma once

#include "base/config/config.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

void declare_migrate(Config& config, MigrateSettings& migrate);

}  // namespace bloomring
