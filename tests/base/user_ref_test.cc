#include "base/user_ref.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("user reference: it has the hash and the shard of its key, whether made from the key or with its hash") {
  const UserKey key("feed", "u1");
  const UserRef user = key.bytes();
  CHECK(user.key == key.bytes());
  CHECK(user.hash == user_hash(key.bytes()));
  CHECK(user.shard() == shard_of(key.bytes()));
  const UserRef known(key.bytes(), user.hash);
  CHECK(known.key == user.key);
  CHECK(known.hash == user.hash);
  const std::string bytes(key.bytes());
  CHECK(UserRef(bytes).hash == user.hash);
  CHECK(UserRef(bytes).key.data() == bytes.data());
}
