// A real redis-server with the old store of a site, for the jobs over it.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "schemas/legacy/legacy_layout.h"
#include "state/legacy/legacy_writer.h"
#include "state/period.h"
#include "state/redis/redis_client.h"
#include "tests/support/redis_servers.h"

namespace bloomring::testing {

struct LegacyBed {
  static constexpr int64_t kNowMs = 1'764'000'000'000;  // 2025-11-24.

  explicit LegacyBed(LegacyLayoutConfig config = {}) : layout(LegacyLayout::create(std::move(config)).value()) {
    RedisClientConfig redis;
    redis.addresses = {server.address()};
    redis.timeout_ms = 10'000;
    client = std::make_unique<RedisClient>("test", redis, counters);
  }
  // So many plays of the user, of the items "USER-0", "USER-1", ..., the last one an hour ago.
  void play(const std::string& user, size_t plays) {
    LegacyWriter writer(*client);
    for (size_t i = 0; i < plays; ++i) {
      const int64_t time_ms = kNowMs - 3'600'000 - static_cast<int64_t>(plays - 1 - i) * 60'000;
      REQUIRE(writer.add(layout.key_of("", user), layout.member_of(user + "-" + std::to_string(i)),
                         layout.score_of(time_ms))
                  .ok());
    }
    REQUIRE(writer.flush().ok());
  }

  RedisServer server;
  RedisCounters counters;
  std::unique_ptr<RedisClient> client;
  const LegacyLayout layout;
  const Calendar calendar = Calendar::create({}).value();
};

}  // namespace bloomring::testing
