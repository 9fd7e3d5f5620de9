// Asks the old store about given members: which of them are in any of some sorted sets, or of some Bloom filters.
//
//   in_sets     ZMSCORE key member ...     a score or nothing for each (servers before 6.2: ZSCORE, pipelined)
//               ZCARD key                  where sizes are wanted
//   in_filters  BF.MEXISTS key member ...  of the module RedisBloom: 1 or 0 for each
//
// All commands about one question are on the way together. A key that is not there has no members.
// Memory: the question and its answer.
// Errors: kRetry when a server is away or answers in another form; kInvalid for what it refuses, for a key of another
// type, and for filters on a server without the module.
// Threading: one thread. Waits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_client.h"

namespace bloomring {

struct LegacySetAnswer {
  std::vector<std::string> scores;  // Of each member: the greatest in any set, as the server writes it; empty: none.
  uint64_t largest = 0;             // Members of the largest set, where it was asked for.
};

class LegacyLookup {
 public:
  static constexpr size_t kMembersOfCommand = 1'000;  // So that no command holds its server for long.

  // The client outlives it.
  explicit LegacyLookup(RedisClient& client) : client_(client) {}

  Result<LegacySetAnswer> in_sets(const std::vector<std::string>& keys, const std::vector<std::string>& members,
                                  bool sizes);
  Result<std::vector<bool>> in_filters(const std::vector<std::string>& keys, const std::vector<std::string>& members);

 private:
  // The answers to `commands_for(key)` of each key, in order.
  Result<std::vector<std::vector<RedisReply>>> ask(const std::vector<std::string>& keys,
                                                   const std::function<RedisRequest(const std::string&)>& request_for);
  Status failure(const RedisReply& error, const std::string& what) const;

  RedisClient& client_;
  bool one_by_one_ = false;  // The server does not know ZMSCORE.
};

}  // namespace bloomring
