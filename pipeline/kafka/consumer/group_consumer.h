// A member of a consumer group: gets partitions, hands each to its owner as a Source, and takes it back.
//
//   create -> poll, poll, ... -> close (the place in the group is kept) or leave (it is given up at once)
//
// Guarantees: a partition's Source is handed out before its first record is fetched and destroyed before the group
// hears that the partition is free, so two members never work on one partition, except when the group considered this
// member dead (`lost`). Reading starts exactly at the offset that `on_assign` returns. Only offsets given to
// Source::commit are committed.
//
// Threading: one thread owns the consumer and calls everything but `stats`; the listener is called inside its `poll`,
// `close` and `leave`. Sources belong to their tasks' threads. `stats` may be called from any thread.
//
// Errors:
// - A failed commit is counted, logged, and retried with the next one.
// - Brokers may go away and come back. If they are away, or one partition has no leader, while partitions are
//   assigned, that partition waits and is tried again each second, and the others are handed out.
// - When a broker reports that its log does not have a position, the consumer verifies it first
//   (pipeline/kafka/consumer/position_recovery.h): that partition waits, and `poll` asks.
// Assignment is eager (range): at each rebalance all partitions are revoked and assigned again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

// The owner of the work on the partitions.
class GroupListener {
 public:
  virtual ~GroupListener() = default;
  // The partition is ours. Returns the offset to start from, or kLogStart. The source may go to another thread at
  // once. After a failure the partition stays unread, and `poll` returns the failure. After kRetry the partition is
  // handed out again a second later, with new facts from the brokers; after 30 s of kRetry `poll` returns kFatal.
  virtual Result<Offset> on_assign(const TopicPartition& partition, const PartitionFacts& facts,
                                   std::unique_ptr<Source> source) = 0;
  // Every partition of an assignment has been handed out.
  virtual void on_handed_out() {}
  // The partitions are no longer ours. Returns when no task works on them and their sources are destroyed. Commits
  // made until then are still sent, unless `lost`: then others may have had the partitions for a while, and the
  // listener must drop work in progress instead of finishing it.
  virtual void on_revoke(std::span<const TopicPartition> partitions, bool lost) = 0;
};

struct GroupStats {
  int64_t assigned = 0;         // Partitions held now.
  bool has_place = false;       // From an assignment, also an empty one, until it is revoked.
  int64_t rebalances = 0;       // Assignments received since the start. 0: the group was never joined.
  int64_t commits = 0;          // Commit requests that succeeded.
  int64_t commit_failures = 0;  // Commit requests that failed, wholly or for a partition.
};

class GroupConsumer {
 public:
  // Joins the group for all partitions of `topics`. kInvalid when the settings are wrong or a topic does not exist,
  // kRetry when no broker answers within 5 s. `listener` and `clock` outlive the consumer.
  static Result<std::unique_ptr<GroupConsumer>> create(const ClientSettings& settings, std::vector<std::string> topics,
                                                       GroupListener& listener, const Clock& clock);
  // Closes, if neither `close` nor `leave` was called.
  ~GroupConsumer();

  // Serves the group for at most `timeout_ms` (longer while partitions are assigned: a few round trips, or up to 15 s
  // when the broker does not answer; up to 1.6 s while a position is doubted). To be called at least every
  // max.poll.interval.ms (5 minutes). kFenced: another member has taken this instance id. kFatal: it cannot go on. In
  // both cases everything has been revoked as lost. Returns a failure of `on_assign` unchanged.
  Status poll(int timeout_ms);

  // For a member that was stopped for too long: revokes everything as lost, commits nothing, and closes, keeping its
  // place.
  void abandon();
  // Revokes everything, commits and closes. A member with an instance id keeps its place for session.timeout.ms.
  void close();
  // The same for a member that does not come back, so that its partitions move at once.
  void leave();

  GroupStats stats() const;

 private:
  class Core;
  explicit GroupConsumer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
