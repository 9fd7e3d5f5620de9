// Lists the scenes of a Redis filter store without making anybody wait: server by server, a step of SCAN after the
// other, each begun by the end of the one before. Keys alone are read, no values. A step costs the server and the
// thread of the client some tenths of a millisecond, so reads go on in between.
//
//     primaries, their slots --> SCAN of each, to its end --> primaries, their slots --> the same as before: `ended`
//                                  ^                               |
//                                  +---- slots moved, once --------+
//
// A key that moves from a server that is walked later to one that was walked already is missed. So where slots moved,
// or the servers do not tell, all are walked once more: only a key that moves twice meanwhile could be missed then.
// Errors, to `ended`: kRetry when a server is away or the store is being closed.
// Threading: used by the thread of the client. It is shared with the request under way alone.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "state/store/filter_reader.h"
#include "state/store/redis/redis_admin.h"

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
  void look_at_slots();
  void ask_slots(size_t index);
  void take_slots(size_t index, const RedisAnswer& answer);
  void judge_slots();
  void go_on();
  void take(RedisAnswer answer);
  void ask(RedisRequest request);

  const RedisStoreParts& parts_;
  RedisClient& client_;
  const FilterReader::TakeScenes ended_;
  std::vector<RedisAddress> servers_;
  std::optional<std::string> slots_;         // Of all servers; nothing while some are under way, or not told.
  std::optional<std::string> slots_before_;  // The same, before the walk.
  int walks_ = 0;
  size_t walked_ = 0;  // Of servers_.
  std::optional<RedisScan> scan_;
  std::set<std::string> found_;
};

}  // namespace bloomring
