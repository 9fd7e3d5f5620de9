// Unites what is known of a user with the plays of the site's old store, for users who are not migrated yet.
//
//   lookup, filters --> the marks of all sets are seen --> united, with the same lookup
//                  \--> some are not --> read these sets --> united, with their plays among the recent ones
//
// Guarantees: a play of the old store is seen at every moment of a migration. Where the marks of a set are seen, its
// plays are, too, because they are before the marks in the log. Where they are not seen, the set is read after the
// lookup, and it is as it was: a migration removes nothing.
// Plays of the old store obey forgets as recent plays do. An old store that cannot be read in time is a gap.
// Threading: thread safe; waits for nobody.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "serving/legacy/old_plays.h"
#include "serving/query/candidate_filter.h"

namespace bloomring {

// Requests about users who may have sets in the old store.
struct ReadThroughCounters {
  std::atomic<uint64_t> old_migrated{0};  // All of their sets were migrated.
  std::atomic<uint64_t> old_united{0};    // Sets that were not were read...
  std::atomic<uint64_t> old_missing{0};   // ...or could not be read whole.
  std::atomic<uint64_t> old_plays{0};     // That were read.
};

// The old store of a service, and how long a read of it may take.
struct ReadThroughConfig {
  OldPlaysReader* old_store = nullptr;  // Outlives the service. Null: nothing is read through.
  int64_t timeout_ms = 100;
};

class ReadThrough final : public std::enable_shared_from_this<ReadThrough> {
 public:
  // All outlive the reads.
  ReadThrough(OldPlaysReader& old_store, CandidateFilter& core, ReadThroughCounters& counters, std::string user_key);

  // Items that a lookup must want: these, and the marks.
  std::vector<ItemHash> wanted(std::span<const ItemHash> items) const;
  // Calls `united` once, now or later on a thread of the old store. It must not block. `filters` are those of the
  // lookup, null without any; they are used before this returns.
  using United = std::function<void(const UserLookup& lookup)>;
  void unite(const UserLookup& lookup, const UserFilters* filters, int64_t timeout_ms, United united);

 private:
  std::vector<std::string> unmigrated(const UserLookup& lookup, const UserFilters* filters) const;
  void end(UserLookup lookup, OldPlays old, const United& united);

  OldPlaysReader& old_store_;
  CandidateFilter& core_;
  ReadThroughCounters& counters_;
  const std::string user_key_;
  const std::vector<OldSet> sets_;
};

}  // namespace bloomring
