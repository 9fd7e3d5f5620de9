// The old store of a site, as the query service reads users from it who are not migrated yet (migrate.read_through).
//
//   sets_of(user) --> marks of each set: seen? --> migrated: nothing to do
//                                           \--> begin(keys) --> ended(plays), or why they are missing
//
// Threading: thread safe. `ended` is called once, before `begin` returns or later on a thread of the reader, and must
// not block. `begin` never waits.
// Errors: an old store that cannot be read is a sentence for people in OldPlays::missing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace bloomring {

struct OldPlay {
  ItemHash item;
  int64_t time_ms = 0;
};

struct OldPlays {
  std::vector<OldPlay> plays;
  std::string missing = {};  // Why plays may be missing; empty: none is.
};

// A set of a user in the old store. It was migrated when all of its marks are seen (schemas/legacy/migrated_marks.h).
struct OldSet {
  std::string key;
  std::vector<ItemHash> marks;
};

class OldPlaysReader {
 public:
  virtual ~OldPlaysReader() = default;
  // `user_key`: UserKey bytes.
  virtual std::vector<OldSet> sets_of(std::string_view user_key) const = 0;
  // The plays of these sets from `since_ms` on.
  using Ended = std::function<void(OldPlays)>;
  virtual void begin(std::vector<std::string> keys, int64_t since_ms, int64_t timeout_ms, Ended ended) = 0;
};

}  // namespace bloomring
