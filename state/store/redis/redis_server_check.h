// Whether the servers of a Redis filter store keep what they are given: each tells its settings by INFO and CONFIG GET.
//
//   memory is bounded and the policy evicts   refused: filters vanish, and played items are unseen without a word
//   the policy evicts, without a bound        warned of: the next bound on memory loses filters
//   neither append-only file nor snapshots    warned of: a server that starts again is empty, and so are its replicas
//   it does not say                           told as unknown: disk KVs have no CONFIG, and an ACL may forbid it
//
// Errors: kRetry when no server of the store answers. A server that does not answer while others do is unknown.
// Threading: thread safe. Waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "state/store/redis/redis_store_parts.h"
#include "state/store/server_findings.h"

namespace bloomring {

// Nothing where the server does not say.
struct RedisServerSettings {
  std::optional<uint64_t> memory_bytes_max;  // 0: no bound.
  std::optional<std::string> eviction;       // maxmemory-policy.
  std::optional<bool> append_only;
  std::optional<bool> snapshots;
  std::string refusal = {};  // The server's words, where it refuses a question.
};

// The questions, and the settings from the replies to them.
RedisRequest server_settings_request(const RedisAddress& server);
RedisServerSettings parse_server_settings(const std::vector<RedisReply>& replies);
void judge_server(const RedisAddress& server, const RedisServerSettings& settings, ServerFindings& findings);

// Asks every server, replicas too: after a failover they are the primaries.
Result<ServerFindings> check_redis_servers(const RedisStoreParts& parts, RedisClient& client);

}  // namespace bloomring
