// The keys under `serve` and `admin`: the ports of a process, and who may use them.
// Threading: as Config.
#pragma once

#include "base/config/config.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// Each opens its section and declares its keys, bound to settings that outlive the configuration.
void declare_serve(Config& config, ServeSettings& serve);
void declare_admin(Config& config, AdminSettings& admin);

}  // namespace bloomring
