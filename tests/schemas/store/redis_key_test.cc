#include "schemas/store/redis_key.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/hash.h"
#include "schemas/store_key.h"
#include "state/redis/redis_slot.h"

using namespace bloomring;

namespace {
const RedisKeys kKeys("bloomring:");
std::string user(const std::string& name) { return std::string(UserKey("feed", name).bytes()); }
}  // namespace

TEST_CASE("redis key: everything of a user lies in the slot of its shard's state, whatever bytes its name has") {
  for (const std::string& name : {std::string("u1"), std::string("}{"), std::string("{}"), std::string("a}b{c}"),
                                  std::string("\x01\xff\n\r", 4)}) {
    const std::string key = user(name);
    const UserRef ref(key);
    const uint16_t slot = redis_slot(kKeys.shard_state(ref.shard()));
    CHECK(redis_slot(kKeys.forgotten(ref)) == slot);
    CHECK(redis_slot(kKeys.aside(ref.shard(), "0123456789abcdef", forgotten_key(ref))) == slot);
    for (const int period : {0, 123, 682, 0xffff})
      CHECK(redis_slot(kKeys.filter(ref, PeriodUnit::kMonth, PeriodIndex(period))) == slot);
  }
}

TEST_CASE("redis key: the names of a store are these bytes") {
  const std::string key = user("u1");
  CHECK(UserRef(key).shard() == ShardId(2051));
  CHECK(kKeys.filter(UserRef(key), PeriodUnit::kMonth, PeriodIndex(683)) ==
        std::string("bloomring:{2051}f\x08\x03\x04"
                    "feedu1m\x02\xab"));
  CHECK(kKeys.forgotten(UserRef(key)) == "bloomring:{2051}g\x08\x03\x04"
                                         "feedu1");
  CHECK(kKeys.shard_state(ShardId(2051)) == "bloomring:{2051}s");
  CHECK(kKeys.watermark(PartitionId(7)) == "bloomring:{p7}w");
  CHECK(kKeys.owner(PartitionId(7)) == "bloomring:{p7}s");
  CHECK(kKeys.aside(ShardId(2051), "0123456789abcdef", kKeys.forgotten(UserRef(key)).substr(16)) ==
        std::string("bloomring:{2051}x0123456789abcdefg\x08\x03\x04"
                    "feedu1"));
  CHECK(redis_slot(kKeys.watermark(PartitionId(7))) == redis_slot(kKeys.owner(PartitionId(7))));
  CHECK(kKeys.meta() == "bloomring:{m}m");
  CHECK(kKeys.pattern() == "bloomring:{*");
}

TEST_CASE("redis key: a logical key comes back from its name, and from no other") {
  const std::string key = user("u}1");
  const UserRef ref(key);
  const std::string filter = kKeys.filter(ref, PeriodUnit::kDay, PeriodIndex(20000));
  CHECK(kKeys.logical(filter).value() == filter_key(ref, PeriodUnit::kDay, PeriodIndex(20000)));
  const std::string forgotten = kKeys.forgotten(ref);
  CHECK(kKeys.logical(forgotten).value() == forgotten_key(ref));
  for (const std::string& other : {kKeys.shard_state(ref.shard()), kKeys.meta(), kKeys.watermark(PartitionId(1)),
                                   kKeys.aside(ref.shard(), "0123456789abcdef", "f123"), std::string("other:{1}f"),
                                   std::string("x")})
    CHECK(kKeys.logical(other).value().empty());
  CHECK(kKeys.logical("bloomring:{1}" + forgotten_key(ref)).code() == Code::kCorrupt);
  CHECK(kKeys.logical("bloomring:{1}fgarbage").code() == Code::kCorrupt);
  CHECK(kKeys.is_aside(kKeys.aside(ref.shard(), "0123456789abcdef", "f123")));
  CHECK_FALSE(kKeys.is_aside(filter));
  CHECK(kKeys.shard_of_state(kKeys.shard_state(ShardId(4999))) == ShardId(4999));
  for (const char* other : {"bloomring:{5000}s", "bloomring:{p1}s", "bloomring:{1}", "bloomring:{}s", "{1}s"})
    CHECK_FALSE(kKeys.shard_of_state(other).has_value());
}

TEST_CASE("redis key: a prefix has nothing that moves the tag or widens the pattern") {
  for (const char* good : {"", "bloomring:", "site-7/", "a.b_c"}) CHECK(complain_about_prefix(good).empty());
  for (const char* bad : {"{a}", "a}", "a*", "a?", "[a", "a b", "\xc3\xa4", "a\n"})
    CHECK(!complain_about_prefix(bad).empty());
  CHECK(!complain_about_prefix(std::string(65, 'a')).empty());
}

TEST_CASE("redis key: the shards spread over three servers within a tenth of even") {
  std::map<int, int> by_server;
  for (uint16_t shard = 0; shard < 5000; ++shard)
    ++by_server[redis_slot(kKeys.shard_state(ShardId(shard))) * 3 / kRedisSlots];
  for (const auto& [server, shards] : by_server) CHECK(std::abs(shards - 1667) < 167);
}
