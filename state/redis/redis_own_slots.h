// The slots of one server of a cluster as it tells them itself (CLUSTER NODES), for a walk over all servers: a key that
// moves from a server that is walked later to one that was walked already is missed.
// Threading: a value and a pure function.
#pragma once

#include <optional>
#include <string>

#include "state/redis/redis_connection.h"
#include "state/redis/redis_reply.h"

namespace bloomring {

struct RedisOwnSlots {
  std::string text;        // Of the server's epoch and slots. The same twice: no slot has come or gone for good.
  bool under_way = false;  // A slot is on its way to the server, or from it.
};

RedisRequest own_slots_request(const RedisAddress& server);
// Of the reply to it. Nothing from a server that is no cluster or does not tell.
std::optional<RedisOwnSlots> parse_own_slots(const RedisReply& reply);

}  // namespace bloomring
