// The checks of a process before it uses a Redis filter store: that its servers can do what the store needs, and that
// the store was made for this configuration.
//
// Errors: kRetry when no server answers, or the store was not made yet; kInvalid with the way out for a command that is
// missing or forbidden, a server of another protocol, a clock that is far from ours, and a store of another partition
// count or period.
// Threading: thread safe. Waits.
#pragma once

#include <optional>

#include "base/keyed_sum.h"
#include "state/store/redis/redis_store_parts.h"

namespace bloomring {

// Tries each command that reading needs, and those of writing where `writes`. Leaves nothing behind.
Status check_redis_commands(const RedisStoreParts& parts, RedisClient& client, bool writes);
// Compares the clock of each server with that of this machine: a server removes filters by its own, and a replica does
// so once it is a primary. Passes over a server that does not answer, or may not tell.
Status check_redis_clocks(const RedisStoreParts& parts, RedisClient& client);
// Whether there is a description of a store, of any configuration.
Result<bool> is_redis_store_made(const RedisStoreParts& parts, RedisClient& client);
// Compares the store's description with the configuration. A writer makes it where there is none.
Status check_redis_description(const RedisStoreParts& parts, RedisClient& client, bool writes);

// The key of slot ends (schemas/store/slot_end_key.h); nothing where no writer has made it yet.
Result<std::optional<SumKey>> read_redis_slot_end_key(const RedisStoreParts& parts, RedisClient& client);
// Writes this key where there is none, or a damaged one; with `replace` in any case.
Status make_redis_slot_end_key(const RedisStoreParts& parts, RedisClient& client, const SumKey& key, bool replace);

}  // namespace bloomring
