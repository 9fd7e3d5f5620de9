// Walks over a Redis filter store, server by server, with SCAN.
//
// A key that a resharding moves meanwhile may be missed (see redis_generation); one that SCAN names twice is visited
// once, by its hash, which takes some 64 bytes of memory for each key.
// Errors: kRetry when a server is away; kCorrupt for a key that is not ours under our prefix.
// Threading: thread safe. Waits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "state/store/redis/redis_store_parts.h"
#include "state/store/store_admin.h"

namespace bloomring {

// A key of the store with its value; a value that is no string is empty.
using RedisVisit = std::function<Result<bool>(std::string_view key, std::string_view value)>;

// Until `visit` returns false or fails. Keys for which `wanted` is false are not fetched.
Status walk_redis_store(const RedisStoreParts& parts, RedisClient& client,
                        const std::function<bool(std::string_view key)>& wanted, const RedisVisit& visit);

// The walk over the keys of one server, step by step. A server that starts again orders its keys in another way, so a
// cursor from before that would skip keys: where the connection breaks, the walk of the server begins again.
class RedisScan {
 public:
  explicit RedisScan(RedisAddress server) : server_(std::move(server)) {}

  const RedisAddress& server() const { return server_; }
  RedisRequest step(const RedisStoreParts& parts, std::string_view keys_at_once);
  // The keys of the step; none when it begins again.
  Result<std::vector<std::string>> take(RedisAnswer answer);
  bool ended() const { return ended_; }

  static constexpr int kBeginningsMax = 8;

 private:
  const RedisAddress server_;
  std::string cursor_ = "0";
  std::shared_ptr<RedisBinding> binding_ = std::make_shared<RedisBinding>();  // Shared with the request under way.
  int beginnings_ = 1;
  bool ended_ = false;
};

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
