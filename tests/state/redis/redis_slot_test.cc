#include "state/redis/redis_slot.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("redis slot: slots are those of the published vectors") {
  CHECK(redis_crc16("123456789") == 0x31c3);  // The check value in the Redis cluster specification.
  CHECK(redis_crc16("") == 0);
  // CLUSTER KEYSLOT of redis-server 7.0.15.
  CHECK(redis_slot("somekey") == 11058);
  CHECK(redis_slot("foo{hash_tag}") == 2515);
  CHECK(redis_slot("bar{hash_tag}") == 2515);
  CHECK(redis_slot("foo") == 12182);
  CHECK(redis_slot("bar") == 5061);
}

TEST_CASE("redis slot: the tag is what stands between the first brace and the next closing one") {
  CHECK(redis_slot("{user1000}.following") == redis_slot("{user1000}.followers"));
  CHECK(redis_slot("{user1000}.following") == redis_slot("user1000"));
  CHECK(redis_slot("foo{}{bar}") == redis_crc16("foo{}{bar}") % kRedisSlots);
  CHECK(redis_slot("foo{{bar}}zap") == redis_slot("{bar"));
  CHECK(redis_slot("foo{bar}{zap}") == redis_slot("bar"));
  CHECK(redis_slot("foo{bar") == redis_crc16("foo{bar") % kRedisSlots);
}

