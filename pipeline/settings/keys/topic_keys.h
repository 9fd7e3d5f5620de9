// The keys under `topics`: the names of the topics, from their rows, and their sizes.
// Threading: as Config.
#pragma once

#include "base/config/config.h"
#include "pipeline/settings/topic_settings.h"

namespace bloomring {

// Opens the section and declares its keys, bound to `topics`, which outlives the configuration.
void declare_topics(Config& config, TopicSettings& topics);
// Notes where names were set, after the configuration was loaded.
void note_places(const Config& config, TopicSettings& topics);

}  // namespace bloomring
