// Numbers the user keys of a batch of work: 0, 1, 2, ... in the order of their first appearance.
//
// For grouping events by user on hot paths: a lookup costs a probe and a comparison, the table keeps its memory between
// batches and copies each key once. References stay valid until the next `find_or_add` or `clear`. A user's place in
// the table is random in each process (base/scatter.h); numbers do not depend on it.
// Threading: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/borrow.h"
#include "base/user_ref.h"

namespace bloomring {

class UserTable {
 public:
  UserTable();

  // The number of the user, added when it is new.
  uint32_t find_or_add(UserRef user);
  size_t size() const { return users_.size(); }
  uint64_t hash(uint32_t user) const { return users_[user].hash; }
  // Until the next `find_or_add` or `clear`.
  std::string_view key(uint32_t user) const BLOOMRING_LIFETIMEBOUND {
    return std::string_view(keys_).substr(users_[user].key_begin, users_[user].key_bytes);
  }
  size_t key_bytes() const { return keys_.size(); }
  // The most places that the search for a user reads; takes a walk over the table.
  size_t longest_search() const;
  void clear();

 private:
  struct User {
    uint64_t hash;
    uint32_t key_begin;
    uint32_t key_bytes;
  };
  void grow();

  std::vector<User> users_;
  std::string keys_;
  std::vector<uint32_t> table_;  // Open addressing, at most half full: number + 1, 0 is free.
};

}  // namespace bloomring
