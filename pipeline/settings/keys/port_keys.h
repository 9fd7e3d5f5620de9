// The keys under `serve`, `canary` and `admin`: the ports of a process, who may use them, and the canary that asks.
// Threading: as Config.
#pragma once

#include "base/config/config.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// Each opens its section and declares its keys, bound to settings that outlive the configuration.
void declare_serve(Config& config, ServeSettings& serve);
void declare_canary(Config& config, CanarySettings& canary);
void declare_admin(Config& config, AdminSettings& admin);

}  // namespace bloomring
