// A request about one key of the old store, to the server that has it.
// Threading: pure functions.
#pragma once

#include <string>
#include <utility>

#include "state/redis/redis_connection.h"
#include "state/redis/redis_slot.h"

namespace bloomring {

// `commands` are bytes of so many commands, all about the key.
inline RedisRequest legacy_request(const std::string& key, std::string commands, uint32_t replies = 1) {
  RedisRequest request;
  request.commands = std::move(commands);
  request.replies = replies;
  request.slot = redis_slot(key);
  return request;
}

}  // namespace bloomring
