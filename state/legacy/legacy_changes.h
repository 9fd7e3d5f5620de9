// Changes of a site's old store, gathered and then written together: for `bloomring export`.
//
//   play, forget, forget_all --> gathered by key, in their order --> write: one request a key, all on the way at once
//
//   play        ZADD key GT score member          a later time is never replaced by an earlier one
//   forget      a script: removes the member if its score is below a bound
//   forget_all  ZREMRANGEBYSCORE key -inf (bound
//
// Then each set that got plays is cut to its newest members and gets its time to live, where the site has its sets so.
// A key that holds no sorted set is left as it is: also its time to live.
//
// Guarantees: after `write` every change is in the old store, and nothing is gathered. Written twice, the changes leave
// the same sets as once.
// Errors: kRetry when a server is away, kInvalid for what a server refuses: everything stays gathered, call again.
// Memory: what the caller adds.
// Threading: one thread. Waits for servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "state/redis/redis_client.h"

namespace bloomring {

// The form in which a site keeps its sets.
struct LegacySetBounds {
  uint64_t members_max = 0;  // The newest ones stay. 0: all.
  uint64_t ttl_seconds = 0;  // Since the last play. 0: no set expires.
};

class LegacyChanges {
 public:
  // The client outlives it.
  LegacyChanges(RedisClient& client, LegacySetBounds bounds) : client_(client), bounds_(bounds) {}

  void play(const std::string& key, std::string_view member, std::string_view score);
  // Of times whose scores are below `bound`.
  void forget(const std::string& key, std::string_view member, std::string_view bound);
  void forget_all(const std::string& key, std::string_view bound);

  bool empty() const { return gathered_.empty(); }
  size_t keys() const { return gathered_.size(); }
  // Tells each key that holds no sorted set, and how many changes it did not take.
  using Refused = std::function<void(const std::string& key, uint64_t changes)>;
  Status write(const Refused& refused);

 private:
  enum class Kind : uint8_t { kPlay, kForget, kForgetAll };
  struct Change {
    Kind kind;
    std::string member;
    std::string score;
  };
  using Changes = std::vector<Change>;
  static RedisRequest request_of(const std::string& key, const Changes& changes);
  std::string bounds_of(const std::string& key, uint32_t& commands) const;
  Status write_changes(std::vector<std::string>& foreign, std::vector<std::string>& grown);
  Status keep_bounds(const std::vector<std::string>& keys);

  RedisClient& client_;
  const LegacySetBounds bounds_;
  std::unordered_map<std::string, Changes> gathered_;
};

}  // namespace bloomring
