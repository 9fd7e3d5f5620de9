// Whether the log of user events is kept as long as the ring may need it: a pure check of the topic's settings.
//
// An event is read again from the log after the loss of a disk until it is merged. At the latest that is when its slot
// was drained a lap later: the slot's own hour, a lap of hours, the hour in which it is drained, and one for the merge
// stage to follow. What the merge stage or the filter store is away for comes on top; that is the operator's choice
// (topics.retention_hours).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/settings/settings.h"

namespace bloomring {

// Milliseconds for which the log must keep what it has got.
int64_t retention_need_ms(const RingSettings& ring);

// Sentences about what is too short, with the arithmetic; none when all is well. `topic` holds the settings that are in
// force, by their Kafka names.
std::vector<std::string> check_retention(const std::map<std::string, std::string>& topic, const RingSettings& ring);

}  // namespace bloomring
