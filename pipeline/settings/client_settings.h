// The settings of a process's Kafka clients, from its configuration.
//
// Threading: pure function.
#pragma once

#include "pipeline/kafka/settings.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

// The brokers and the properties under `kafka`; everything else has its default.
kafka::ClientSettings client_settings(const Settings& settings);

}  // namespace bloomring
