// The configuration of a RedisClient (redis_client.h). A value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "state/redis/redis_connection.h"
#include "state/redis/redis_reply.h"

namespace bloomring {

struct RedisClientConfig {
  std::vector<RedisAddress> addresses;  // At least one: where the topology is asked for first.
  RedisLogin login;
  int64_t timeout_ms = 1000;           // Of a request that names none; also how long a server may be silent.
  int64_t topology_interval_ms = 5000;  // Between two questions for the topology when nothing goes wrong.
  size_t in_flight_max = 4096;         // Requests; more are refused.
  RedisNames names = {};
};

}  // namespace bloomring
