// Writes plays to the old store, as its site does: for `bloomring generate --to redis`.
//
//   add --> gathered by key --> at kGatheredMax: a ZADD for each key, all of them on the way together --> answered
//
// Guarantees: after `flush` every member that was added is in its set, with the score that was added last.
// Memory: kGatheredMax members, twice.
// Errors: kRetry when a server is away; kInvalid for what a server refuses. Some members may be written then.
// Threading: one thread. Waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_client.h"

namespace bloomring {

class LegacyWriter {
 public:
  static constexpr size_t kGatheredMax = 50'000;

  // The client outlives it.
  explicit LegacyWriter(RedisClient& client) : client_(client) {}

  Status add(const std::string& key, std::string_view member, std::string_view score);
  Status flush();
  // Removes all but the `newest` members of each set. Flush first.
  Status cut(const std::vector<std::string>& keys, uint64_t newest);

  uint64_t bytes() const { return bytes_; }  // Sent as commands.

 private:
  Status call_all(std::vector<RedisRequest> requests, std::string_view what);

  RedisClient& client_;
  std::unordered_map<std::string, std::vector<std::pair<std::string, std::string>>> gathered_;  // Score, member.
  size_t members_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace bloomring
