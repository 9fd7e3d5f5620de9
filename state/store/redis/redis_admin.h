// Walks over a Redis filter store, server by server, with SCAN.
//
// A key that a resharding moves meanwhile may be missed; one that SCAN names twice is visited once, by its hash, which
// takes some 16 bytes of memory for each key.
// Errors: kRetry when a server is away; kCorrupt for a key that is not ours under our prefix.
// Threading: thread safe. Waits.
#pragma once

#include <functional>
#include <string_view>

#include "state/store/redis/redis_store_parts.h"
#include "state/store/store_admin.h"

namespace bloomring {

// A key of the store with its value; a value that is no string is empty.
using RedisVisit = std::function<Result<bool>(std::string_view key, std::string_view value)>;

// Until `visit` returns false or fails. Keys for which `wanted` is false are not fetched.
Status walk_redis_store(const RedisStoreParts& parts, RedisClient& client,
                        const std::function<bool(std::string_view key)>& wanted, const RedisVisit& visit);

// One step of SCAN, and its keys; sets the cursor to that of the next step, "0" at the end.
RedisRequest scan_request(const RedisStoreParts& parts, const RedisAddress& server, const std::string& cursor,
                          std::string_view keys_at_once);
Result<std::vector<std::string>> keys_of_scan(RedisAnswer answer, const RedisAddress& server, std::string& cursor);

// As the functions of StoreAdmin.
Status scan_redis_store(const RedisStoreParts& parts, RedisClient& client,
                        const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit);
Status walk_redis_values(const RedisStoreParts& parts, RedisClient& client, ValueKind kind,
                         const std::function<bool(std::string_view store_key)>& wanted, const StoredVisit& visit);
Result<uint64_t> redis_generation(const RedisStoreParts& parts, RedisClient& client);
Status check_redis_holds(const RedisStoreParts& parts, RedisClient& client, const Watermarks& watermarks);
Result<StoreCheck> check_redis_store(const RedisStoreParts& parts, RedisClient& client,
                                     const StoreCheckProgress& progress);

}  // namespace bloomring
