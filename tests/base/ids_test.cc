#include "base/ids.h"

#include <catch2/catch.hpp>

using bloomring::UserKey;

TEST_CASE("user key: two different pairs of scene and user never give the same bytes") {
  CHECK(UserKey("a", "bc").bytes() != UserKey("ab", "c").bytes());
  CHECK(UserKey("", "abc").bytes() != UserKey("a", "bc").bytes());
}

TEST_CASE("user key: scene and user come back as they went in") {
  const UserKey key("feed", "u1");
  CHECK(key.scene() == "feed");
  CHECK(key.user() == "u1");
}

TEST_CASE("user key: bytes without a user, cut short or over the bound are not valid") {
  CHECK(UserKey::valid(UserKey("feed", "u1").bytes()));
  CHECK(UserKey::valid(UserKey("", "u").bytes()));
  CHECK_FALSE(UserKey::valid(""));
  CHECK_FALSE(UserKey::valid(UserKey("feed", "").bytes()));
  CHECK_FALSE(
      UserKey::valid(std::string("\x05"
                                 "feed",
                                 5)));
  CHECK_FALSE(UserKey::valid(UserKey("", std::string(129, 'x')).bytes()));
}
