// An old store for a test: a redis-server, and a client of it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "state/redis/redis_client.h"
#include "tests/support/redis_servers.h"

namespace bloomring::testing {

struct OldStoreBed {
  explicit OldStoreBed(std::vector<std::string> settings = {}) : server(std::move(settings)) { connect({}); }
  void connect(RedisLogin login, int64_t timeout_ms = 10'000) {
    RedisClientConfig config;
    config.addresses = {server.address()};
    config.timeout_ms = timeout_ms;
    config.login = std::move(login);
    config.names = {.store = "old store", .settings = "migrate"};
    client = std::make_unique<RedisClient>("test", config, counters);
  }

  RedisServer server;
  RedisCounters counters;
  std::unique_ptr<RedisClient> client;
};

}  // namespace bloomring::testing
