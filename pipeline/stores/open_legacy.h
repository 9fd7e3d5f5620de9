// The old store of a site (state/legacy), opened from the settings under `migrate`.
//
// Errors: kInvalid for settings that are missing or wrong, with their names. Asks no server.
// Threading: as its parts.
#pragma once

#include <memory>

#include "base/result.h"
#include "pipeline/settings/settings.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/redis/redis_client.h"

namespace bloomring {

struct LegacyStore {
  LegacyLayout layout;
  std::unique_ptr<RedisCounters> counters;  // Outlive the client.
  std::unique_ptr<RedisClient> client;
};

Result<LegacyStore> open_legacy(const Settings& settings);

}  // namespace bloomring
