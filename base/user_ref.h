// A user key with its hash: made once for each record or call, and passed on, so that shard, tables, caches and store
// keys do not hash the key again.
//
// Borrows: the caller keeps the bytes of the key, unchanged and in place, for as long as the reference is used.
// Converts from the bytes, so a function that takes a UserRef can be called with a key, which is then hashed there.
// Threading: a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/borrow.h"
#include "base/hash.h"
#include "base/ids.h"

namespace bloomring {

struct UserRef {
  std::string_view key;  // UserKey bytes.
  uint64_t hash = 0;     // user_hash(key).

  UserRef() = default;
  UserRef(std::string_view bytes BLOOMRING_LIFETIMEBOUND) : UserRef(bytes, user_hash(bytes)) {}    // NOLINT: converts.
  UserRef(const std::string& bytes BLOOMRING_LIFETIMEBOUND) : UserRef(std::string_view(bytes)) {}  // NOLINT: converts.
  UserRef(std::string_view bytes BLOOMRING_LIFETIMEBOUND, uint64_t known_hash) : key(bytes), hash(known_hash) {}

  ShardId shard() const { return shard_of_hash(hash); }
};

}  // namespace bloomring
