// Every configuration key: its type, range, unit and help, and the field of the settings that it sets. The fields hold
// the defaults. `bloomring reference config` prints the page that is made from the declarations.
//
// Threading: as Config.
#pragma once

#include <string>

#include "base/config/config.h"
#include "pipeline/settings/settings.h"
#include "pipeline/settings/topology.h"

namespace bloomring {

// Declares every key on `config`, bound to `settings`, which must outlive it. For load_settings and tests. `stages` of
// the settings may name the stages of `topology`; all of them are the default.
void declare_settings(Config& config, Settings& settings, Topology topology);

// The reference page of all keys, in Markdown.
std::string settings_reference(Topology topology);

}  // namespace bloomring
