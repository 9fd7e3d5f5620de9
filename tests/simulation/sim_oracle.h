// The plain oracle of the simulation: what counts of one user, from the events in the log and nothing else.
//
// The law (schemas/event.h): a play or a serve counts unless there is a forget of its item, or of everything, whose
// event time is not before its own; the time of a serve is at most the log time of its record. What must be seen
// follows from it as it is. What must be unseen is judged with forgets that reach less far: a late one, and one that
// was logged before the store went back to a backup, may reach only to the beginning of its period in filters. Which
// ones may be late is worked out here from the promise (docs/decisions/0010-forgetting-by-event-time.md) and the log's
// own times, never from a ring:
//   - from before the hour of log time in which it was logged, with a play after it in an earlier hour;
//   - where a wall clock of the window stage was wrong, hours end early: any play after it that was logged before it;
//   - from before the record below the place at which a window stage began without its state was logged, or the first
//     one from there on where no record has that offset;
//   - from before the first record of a log that was made again, or begins behind what is merged, was logged;
//   - for a replica: from before the end of the hours that were merged when it began; and where log time went back to
//     an hour before, or has not passed the hour after those, any play after it that was logged before it: what the
//     replica lets go at once begins anywhere in an hour then.
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
  // In the log for so long that an answer has it or says that it may lack something. Also happened, or will happen.
  void was_acknowledged(const Event& event);
  // In the log, but perhaps not known yet: it may count or not.
  void will_happen(const Event& event);

  // Some play of the item in these periods counts.
  bool must_be_seen(ItemHash item, PeriodIndex oldest, PeriodIndex newest) const;
  // No play of the item counts, even where forgets reach less far.
  bool must_be_unseen(ItemHash item) const;
  // Items that an answer must call seen, or say that it lacks something.
  std::vector<ItemHash> must_be_seen_or_told(PeriodIndex oldest, PeriodIndex newest) const;
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
  std::vector<Play> acknowledged_;
  std::map<ItemHash, int64_t> newest_play_ms_;  // Of all that is in the log.
  std::map<PeriodIndex, std::set<ItemHash>> played_in_;
  std::map<ItemHash, int64_t> serves_;  // Newest time.
  Until exact_;
  Until at_least_;
  size_t forgets_ = 0;
};

// A record of user-events as it was decoded once.
struct LoggedRecord {
  struct Happened {
    std::string user_key;
    Event event;
  };
  int64_t log_time_ms;
  int64_t appended_ms;
  std::vector<Happened> events;
  bool lost = false;  // Retention removed it before it was merged: it may count or not.
};

// One of a log that user-events was made again after. Where it was not merged, its plays are lost.
struct EarlierRecord {
  std::vector<LoggedRecord::Happened> events;
  bool merged;
};

using ByOffset = std::map<size_t, int64_t>;

// Where the window stage began without its state: what was merged at that time.
struct BlindStarts {
  std::set<size_t> at;
  // The log's start: nothing tells when what is merged was logged. Also with its state, where records were lost.
  std::set<size_t> without_record_below;
};

// The facts about a partition's log besides its records.
struct LogFacts {
  const std::vector<EarlierRecord>& before;  // Of the logs before this one...
  bool made_anew;                            // ...of which there are some, perhaps without a record.
  size_t before_restore;    // Records that the log had when the store went back for the last time.
  size_t clock_wrong_from;  // Hours that begin at or above this offset may have ended early.
  const BlindStarts& blind;
  size_t log_start;               // Nobody knows of serves below it: who has read them has died.
  const ByOffset* replica_hours;  // From an offset on, no earlier hour than this for the replica; null: nobody asks it.
  int64_t slot_ms;
};

// By user key bytes: what happened below `applied`, and will above it; what was acknowledged below `acknowledged`.
std::map<std::string, UserOracle> read_log(const std::vector<LoggedRecord>& records, size_t applied,
                                           size_t acknowledged, const LogFacts& facts, const Calendar& calendar);

}  // namespace bloomring::simulation
