// Lists the scenes of a Redis filter store without making anybody wait: server by server, a step of SCAN after the
// other, each begun by the end of the one before. Keys alone are read, no values. A step costs the server and the
// thread of the client some tenths of a millisecond, so reads go on in between.
//
//     primaries --> SCAN of the first --> ... until its cursor is 0 --> SCAN of the next --> ... --> `ended`
//
// A key that a resharding moves meanwhile may be missed.
// Errors, to `ended`: kRetry when a server is away or the store is being closed.
// Threading: used by the thread of the client. It is shared with the request under way alone.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "state/store/filter_reader.h"
#include "state/store/redis/redis_store_parts.h"

namespace bloomring {

// The scene of the user whose filter or forgotten value lies under the key, to `scenes`. No other key changes them.
void note_scene(const RedisKeys& keys, std::string_view key, std::set<std::string>& scenes);

class RedisSceneWalk final : public std::enable_shared_from_this<RedisSceneWalk> {
 public:
  // Both outlive the walk.
  static void begin(const RedisStoreParts& parts, RedisClient& client, FilterReader::TakeScenes ended);

 private:
  RedisSceneWalk(const RedisStoreParts& parts, RedisClient& client, FilterReader::TakeScenes ended)
      : parts_(parts), client_(client), ended_(std::move(ended)) {}
  void go_on();
  void take(RedisAnswer answer);

  const RedisStoreParts& parts_;
  RedisClient& client_;
  const FilterReader::TakeScenes ended_;
  std::vector<RedisAddress> left_;  // The last one is walked.
  std::string cursor_ = "0";
  std::set<std::string> found_;
};

}  // namespace bloomring
