// One reply from the bytes that a server sends.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "state/redis/redis_reply.h"

namespace bloomring::testing {

inline RedisReply read_reply(const std::string& bytes) {
  RedisReplyReader reader;
  REQUIRE(reader.feed(bytes).ok());
  auto next = reader.next();
  REQUIRE(next.ok());
  REQUIRE(next->has_value());
  return std::move(**next);
}

}  // namespace bloomring::testing
