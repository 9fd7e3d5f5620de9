// Reads partitions that its owner chose, in no group and without commits: serve replicas, replays, benchmarks.
//
//   create -> facts (to decide where to start) -> assign -> read the sources, poll every second -> destroy
//                        ^                           |
//                        +---- for others, again ----+---- release
//
// Guarantees: those of Source. Reading starts exactly at the offsets given to `assign`. An answer about one partition
// never waits for a missing answer about another.
// Threading: one thread owns the consumer; each Source belongs to its task's thread. Sources are destroyed before the
// consumer is (checked).
// Errors: the consumer waits for lost brokers. The Source of a partition returns the errors of that partition. When a
// broker reports that its log does not have a position, the consumer verifies it first
// (pipeline/kafka/consumer/position_recovery.h): that partition waits, and `poll` asks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/io/io.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/kafka/settings.h"

namespace bloomring::kafka {

class AssignedConsumer {
 public:
  // `partitions_max`: the most partitions read at a time; they share the prefetch budget. kInvalid when the settings
  // are wrong. Asks no broker. `clock` outlives the consumer.
  static Result<std::unique_ptr<AssignedConsumer>> create(const ClientSettings& settings, size_t partitions_max,
                                                          const Clock& clock);
  ~AssignedConsumer();

  // In the order of `partitions`. kRetry when a broker does not answer within 5 s, kInvalid when one does not exist.
  Result<std::vector<PartitionFacts>> facts(std::span<const TopicPartition> partitions);
  // The same with a result for each partition: kRetry also for one without a leader. Waits at most five times
  // `timeout_ms`.
  std::vector<Result<PartitionFacts>> facts_of_each(std::span<const TopicPartition> partitions, int timeout_ms);

  // As `facts_of_each`, with the commits of the group in the settings, without joining it: kRetry for all when its
  // coordinator does not answer. Blocks the caller's thread, which may be any.
  std::vector<Result<PartitionFacts>> group_facts(std::span<const TopicPartition> partitions, int timeout_ms);

  // In the order of `partitions`: the first offset whose record's time in the log is not before the partition's time,
  // or nothing when every record is older. Fails, and waits, as `facts_of_each` does.
  std::vector<Result<std::optional<Offset>>> offsets_at(std::span<const TopicPartition> partitions,
                                                        std::span<const int64_t> times_ms, int timeout_ms);

  // The end of a log for readers is where the first transaction begins that is still open; records that were
  // acknowledged later lie behind it, and nobody can read them yet. The end for writers is behind all records.
  enum class LogEnd : uint8_t { kForReaders, kForWriters };
  // Asks the brokers for the current ends of the logs, in the order of `partitions`. kRetry for those without an
  // answer within `timeout_ms`. It asks for these again only every 3 s and separately, so that the others do not wait
  // for them.
  std::vector<Result<Offset>> log_ends(std::span<const TopicPartition> partitions, int timeout_ms,
                                       LogEnd end = LogEnd::kForReaders);

  // True when a broker answers within `timeout_ms` to a request without topics.
  bool answers(int timeout_ms);

  struct Start {
    TopicPartition partition;
    Offset offset;  // Or kLogStart.
  };
  // Returns one source for each, in the same order. Partitions that are read already go on. Within a second of the
  // last `assign`, fetching begins only with a later `poll`.
  Result<std::vector<std::unique_ptr<Source>>> assign(std::span<const Start> starts);
  // To be called after the partition's source was destroyed; then the partition may be assigned again. Until the next
  // assignment librdkafka still fills its queue.
  void release(const TopicPartition& partition);

  // Handles the client's errors (they go to the log), for at most `timeout_ms`, and doubted positions, for at most 1.6
  // s more. kFatal: the client cannot go on. A source's `commit` does nothing.
  Status poll(int timeout_ms);

 private:
  class Core;
  explicit AssignedConsumer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
