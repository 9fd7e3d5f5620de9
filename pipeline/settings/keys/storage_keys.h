// The keys under `filter`, `store` and `state`: the filters, and the folders and servers that keep them.
// Threading: as Config.
#pragma once

#include "base/config/config.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// Each opens its section and declares its keys, bound to settings that outlive the configuration.
void declare_filter(Config& config, FilterSettings& filter);
void declare_store(Config& config, StoreSettings& store);
void declare_state(Config& config, StateSettings& state);

}  // namespace bloomring
