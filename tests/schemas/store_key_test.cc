#include "schemas/store_key.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/hash.h"
#include "base/words.h"

using namespace bloomring;

namespace {

const std::string kUser(UserKey("feed", "u1").bytes());

}  // namespace

TEST_CASE("store key: the bytes of each kind of key are golden") {
  CHECK(hex(filter_key(kUser, PeriodUnit::kMonth, PeriodIndex(683))) ==
        "66"
        "0803"
        "04666565647531"
        "6d"
        "02ab");
  const std::string user = std::string(UserKey("", "7").bytes());
  CHECK(hex(filter_key(user, PeriodUnit::kDay, PeriodIndex(0xffff))) ==
        "66"
        "05ba"
        "0037"
        "64"
        "ffff");
  CHECK(hex(watermark_key(PartitionId(258))) ==
        "77"
        "0102");
  CHECK(hex(kMetaKey) == "6d");
}

TEST_CASE("store key: a filter key comes back as it went in") {
  for (const PeriodUnit unit : {PeriodUnit::kMonth, PeriodUnit::kWeek, PeriodUnit::kDay}) {
    const std::string key = filter_key(kUser, unit, PeriodIndex(19000));
    const auto parsed = parse_filter_key(key);
    REQUIRE(parsed.ok());
    CHECK(parsed->user_key == kUser);
    CHECK(parsed->shard == shard_of(kUser));
    CHECK(parsed->unit == unit);
    CHECK(parsed->period == PeriodIndex(19000));
  }
  CHECK(parse_watermark_key(watermark_key(PartitionId(4999)))->value == 4999);
}

TEST_CASE("store key: users whose keys begin alike never share a filter key") {
  const std::string user = std::string(UserKey("", "a").bytes());
  const std::string longer = user + "m" + std::string("\x02\xab", 2);
  const std::string key = filter_key(longer, PeriodUnit::kMonth, PeriodIndex(683));
  CHECK(filter_key(user, PeriodUnit::kMonth, PeriodIndex(683)) != key);
  CHECK(parse_filter_key(key)->user_key == longer);
}

TEST_CASE("store key: the periods of a user lie in order between the bounds of filter keys") {
  std::vector<std::string> keys;
  for (const int32_t period : {0, 1, 255, 256, 683, 0xffff}) {
    keys.push_back(filter_key(kUser, PeriodUnit::kDay, PeriodIndex(period)));
  }
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(keys.front() >= kFilterKeysBegin);
  CHECK(keys.back() < kFilterKeysEnd);
}

TEST_CASE("store key: a key that the builder would not have made is refused") {
  const std::string good = filter_key(kUser, PeriodUnit::kMonth, PeriodIndex(683));
  for (size_t i = 0; i < good.size() - 2; ++i) {  // The last two bytes are the period: every value is a good key.
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const auto parsed = parse_filter_key(bad);
      if (parsed.ok())
        CHECK(filter_key(parsed->user_key, parsed->unit, parsed->period) == bad);
      else
        CHECK(parsed.code() == Code::kCorrupt);
    }
  }
  for (size_t size = 0; size < good.size(); ++size) CHECK_FALSE(parse_filter_key(good.substr(0, size)).ok());
  CHECK_FALSE(parse_watermark_key("w").ok());
  CHECK_FALSE(parse_watermark_key("w\x01\x02\x03").ok());
  CHECK_FALSE(parse_watermark_key("w\xff\xff").ok());
}

TEST_CASE("store key: a forgotten key names its user, lies next to the filter keys and is parsed strictly") {
  const std::string good = forgotten_key(kUser);
  CHECK(parse_forgotten_key(good).value() == kUser);
  CHECK(good >= kFilterKeysEnd);
  CHECK_FALSE(parse_filter_key(good).ok());
  CHECK_FALSE(parse_forgotten_key(filter_key(kUser, PeriodUnit::kMonth, PeriodIndex(683))).ok());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK(parse_forgotten_key(bad).code() == Code::kCorrupt);
    CHECK(parse_forgotten_key(good.substr(0, i)).code() == Code::kCorrupt);
  }
  CHECK(describe_store_key(good) == "what user " + user_hash_text(kUser) + " in scene feed has forgotten");
}

TEST_CASE("store key: a message names a user by a hash, and never by the id") {
  const std::string user(UserKey("a\n%", "private-id").bytes());
  CHECK(describe_store_key(filter_key(kUser, PeriodUnit::kMonth, PeriodIndex(683))) ==
        "filter of user " + user_hash_text(kUser) + " in scene feed, month 683");
  CHECK(describe_store_key(filter_key(user, PeriodUnit::kDay, PeriodIndex(7))) ==
        "filter of user " + user_hash_text(user) + " in scene a%0A%25, day 7");
  CHECK(describe_store_key("f\xffprivate-id") == "key f... of 12 bytes");
  CHECK(user_hash_text(kUser).size() == 17);
  CHECK(user_hash_text(kUser) != user_hash_text(user));
}
