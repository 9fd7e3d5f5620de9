// The plain oracle of the simulation: what counts of one user, from the events in the log and nothing else.
//
// The law (schemas/event.h): a play or a serve counts unless there is a forget of its item, or of everything, whose
// event time is not before its own. What must be seen follows from it as it is. What must be unseen is judged with
// forgets that reach less far: a late one, and one that was logged before the store went back to a backup, may reach
// only to the beginning of its period in filters. Which one is late to the window stage is said here once more, from
// the log and from where its hours began (LogFacts); a replica calls late what happened before the hour in which it was
// logged, as long as the store does not know better.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "schemas/event.h"
#include "state/period.h"
#include "tests/simulation/sim_log.h"

namespace bloomring::simulation {

class UserOracle {
 public:
  explicit UserOracle(const Calendar& calendar) : calendar_(calendar) {}

  void happened(const Event& event, bool may_reach_less);
  // In the log, but perhaps not known yet: it may count or not.
  void will_happen(const Event& event);

  // Some play of the item in these periods counts.
  bool must_be_seen(ItemHash item, PeriodIndex oldest, PeriodIndex newest) const;
  // No play of the item counts, even where forgets reach less far.
  bool must_be_unseen(ItemHash item) const;
  // Items of all plays in the log, known yet or not, whether they count or not: no others are in the filter.
  const std::set<ItemHash>& played_in(PeriodIndex period) const;
  // One event, which the log holds.
  bool counts(ItemHash item, int64_t time_ms) const;

  struct Play {
    ItemHash item;
    int64_t time_ms;
    PeriodIndex period;
  };
  const std::vector<Play>& plays() const { return plays_; }
  std::vector<ItemHash> items() const;
  // The items of the newest `per_user_max` serves, each item at its newest time, that are not older than `oldest_ms`;
  // empty where equal times make that ambiguous.
  std::vector<ItemHash> served(size_t per_user_max, int64_t oldest_ms) const;
  bool was_served(ItemHash item) const { return serves_.contains(item); }
  size_t forgets() const { return forgets_; }

 private:
  // Up to when things are forgotten: everything, and by item.
  struct Until {
    int64_t everything_ms = 0;
    std::map<ItemHash, int64_t> items_ms;
    void forget(const Event& event, int64_t time_ms);
    int64_t of(ItemHash item) const;
  };

  const Calendar& calendar_;
  std::vector<Play> plays_;
  std::map<ItemHash, int64_t> newest_play_ms_;  // Of all that is in the log.
  std::map<PeriodIndex, std::set<ItemHash>> played_in_;
  std::map<ItemHash, int64_t> serves_;  // Newest time.
  Until exact_;
  Until at_least_;
  size_t forgets_ = 0;
};

using ByOffset = std::map<size_t, int64_t>;

// What is known of a partition's log beside its records.
struct LogFacts {
  size_t before_restore;  // What the log had when the store went back for the last time.
  const ByOffset& hours;  // Where hours of the window stage began: their numbers, the latest of several.
  // Where it began without local state, and knew of the plays before only when the last of them had been logged.
  const std::set<size_t>& blind;
  const ByOffset* replica_hours;  // From an offset on, no earlier hour than this for the replica; null: nobody asks it.
  int64_t slot_ms;
};

// By user key bytes: what happened below `end`, and will above it.
std::map<std::string, UserOracle> read_log(const std::vector<StoredRecord>& records, size_t end, const LogFacts& facts,
                                           const Calendar& calendar);

}  // namespace bloomring::simulation
