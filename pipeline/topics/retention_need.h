// Checks that user-events is kept as long as the ring may need it. A pure check of the topic's settings.
//
// After the loss of a disk, an event is read again from the log until it is merged. At the latest it is merged when
// its slot is drained a lap later: the slot's own hour, a lap of hours, the hour of the drain, and an hour for the
// merge stage. Outages of the merge stage or the filter store add to that; the operator allows for them
// (topics.retention_hours).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pipeline/settings/settings.h"

namespace bloomring {

// Milliseconds for which the log must keep its records.
int64_t retention_need_ms(const RingSettings& ring);

// A sentence, with the arithmetic, about each setting that is too small; none when all are enough. `topic` has the
// settings in force, by their Kafka names.
std::vector<std::string> check_retention(const std::map<std::string, std::string>& topic, const RingSettings& ring);

}  // namespace bloomring
