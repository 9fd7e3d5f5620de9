// The words of producers and callers, held against the records in the logs. Own books: of ingest only its promises are
// used (docs/formats.md, "Play, as JSON"; pipeline/tasks/ingest_task.h).
//
//   - an accepted event is in the log with its own kind, user, item and time; one that was ahead of the brokers' clock
//     has the moment at which ingest read it as its time (a forget the millisecond before), whatever ingest's own says;
//   - nothing else is in the log, but what ingest asks the brokers' time with;
//   - a committed offset of a plays topic has nothing below it that is neither in the log nor in the dead letters.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "schemas/event.h"

namespace bloomring::simulation {

class Ledger {
 public:
  // A record that was appended to a partition of the plays topics: an event, or one that must be refused. Copies of an
  // event are one event: ingest may drop all but one of them.
  // One that is `ahead` of its time may become the repeat of another one: both have the time of the reading then.
  size_t new_event(std::string user_key, const Event& event, bool ahead);
  size_t new_refused(const std::string& bytes);
  void appended(size_t said, size_t plays_partition);
  void appended_gap(size_t plays_partition) { at_partition(plays_partition).push_back(kGap); }
  // An event that a caller wrote into the log itself.
  void called(const std::string& user_key, const Event& event);
  // The true time at one of its steps.
  void ingest_stepped(int64_t now_ms) { steps_ms_.insert(now_ms); }
  // How far behind the truth or ahead of it ingest may take the time to be: what brokers' clocks are wrong by. For a
  // forget, before it also for how long their word may be on its way: it then reaches less far, which hides no play.
  static constexpr int64_t kAheadMaxMs = 2'000;
  static constexpr int64_t kBehindMaxMs = 3'000;
  static constexpr int64_t kForgetBehindMaxMs = 60'000;
  void logged(const std::string& user_key, const Event& event) { of(user_key, event).logged_ms.insert(event.time_ms); }
  // `bytes` is what a letter holds of a refused record of `record_bytes`.
  void dead_lettered(const std::string& bytes, size_t record_bytes) { ++dead_[dead_name(bytes, record_bytes)]; }
  // A letter may hold the beginning only of a record that is larger than a letter.
  static std::string dead_name(const std::string& bytes, size_t record_bytes) {
    constexpr size_t kBeginningBytes = 64;
    if (record_bytes <= kLetterBytesMin) return bytes;
    return bytes.substr(0, kBeginningBytes) + "... of " + std::to_string(record_bytes) + " bytes";
  }
  uint64_t dead_letters(const std::string& name) const { return dead_.contains(name) ? dead_.at(name) : 0; }

  // Somebody said it.
  bool was_said(const std::string& user_key, const Event& event) const;
  // The times at which this was said of the user, for the report of a failure.
  std::string said_times(const std::string& user_key, const Event& event) const;
  // Notes that the group has committed `next`, and says what is missing of what is committed: empty, or a description.
  std::string missing_below(size_t plays_partition, int64_t next);
  // Of everything.
  std::string missing() const;

 private:
  struct Times {
    std::set<int64_t> said_ms;
    std::set<int64_t> logged_ms;
    int uncommitted = 0;  // Of what was said, in the plays topics.
  };
  struct Said {
    std::string user_key;  // Or the dead_name of a refused record.
    Event event;
    bool refused = false;
    bool ahead = false;
    int copies = 0;
    int copies_committed = 0;
  };
  static constexpr size_t kGap = SIZE_MAX;
  static constexpr size_t kLetterBytesMin = 500'000;
  std::vector<size_t>& at_partition(size_t plays_partition);
  using Key = std::pair<EventKind, ItemHash>;
  Times& of(const std::string& user_key, const Event& event) { return times_[user_key][{event.kind, event.item}]; }
  bool became(const Event& said, int64_t logged_ms) const;
  std::string missing(const Said& said) const;

  std::vector<Said> said_;
  std::vector<std::vector<size_t>> records_;  // By partition of the plays topics and offset: indices of said_, or kGap.
  std::vector<size_t> committed_;
  std::map<std::string, std::map<Key, Times>> times_;
  std::set<int64_t> steps_ms_;
  std::map<std::string, uint64_t> dead_;
};

}  // namespace bloomring::simulation
