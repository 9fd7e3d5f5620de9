// Reads partitions that its owner chose, in no group and without commits: serve replicas, replays, benchmarks.
//
//   create -> facts (to decide where to start) -> assign -> read the sources, poll every second -> destroy
//                        ^                           |
//                        +---- for others, again ----+---- let_go
//
// Guarantees: those of Source; reading starts exactly where `assign` was told. What the brokers say of one partition
// never waits for what they do not say of another.
// Threading: one thread owns the consumer; each Source belongs to its task's thread. Sources are destroyed before
// the consumer is (checked).
// Failure: lost brokers are waited for; what concerns one partition comes out of its Source. A broker that says that
// its log does not have a position is not believed at once (pipeline/kafka/consumer/placement.h): that partition waits,
// and `poll` asks.
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
  // `partitions_max`: how many partitions are read at most at a time; they share the prefetch budget. kInvalid
  // when the settings are wrong. Asks no broker. `clock` outlives the consumer.
  static Result<std::unique_ptr<AssignedConsumer>> create(const ClientSettings& settings, size_t partitions_max,
                                                          const Clock& clock);
  ~AssignedConsumer();

  // In the order of `partitions`. kRetry when a broker does not answer within 5 s, kInvalid when one does not exist.
  Result<std::vector<PartitionFacts>> facts(std::span<const TopicPartition> partitions);
  // The same, of each by itself: kRetry also for one that no broker leads. Waits for five times `timeout_ms` at most.
  std::vector<Result<PartitionFacts>> facts_of_each(std::span<const TopicPartition> partitions, int timeout_ms);

  // As `facts_of_each`, with what the group of the settings has committed, which is not joined: kRetry for all when its
  // coordinator does not answer. Waits on the caller's thread, which may be any.
  std::vector<Result<PartitionFacts>> group_facts(std::span<const TopicPartition> partitions, int timeout_ms);

  // In the order of `partitions`: the first offset whose record's time in the log is not before the partition's time,
  // or nothing when every record is older. Fails, and waits, as `facts_of_each` does.
  std::vector<Result<std::optional<Offset>>> offsets_at(std::span<const TopicPartition> partitions,
                                                        std::span<const int64_t> times_ms, int timeout_ms);

  // Where the logs end now, in the order of `partitions`, asked of the brokers: kRetry for those of which none answers
  // within `timeout_ms`. These are asked again every 3 s only, and by themselves, so that the others do not wait for
  // them.
  std::vector<Result<Offset>> log_ends(std::span<const TopicPartition> partitions, int timeout_ms);

  // Whether a broker answers within `timeout_ms`; it is asked about itself only.
  bool answers(int timeout_ms);

  struct Start {
    TopicPartition partition;
    Offset offset;  // Or kLogStart.
  };
  // One source for each, in the same order. What is read already is read on. Within a second of the last time the
  // partitions are fetched from a later `poll` on.
  Result<std::vector<std::unique_ptr<Source>>> assign(std::span<const Start> starts);
  // Its source is destroyed; the partition may be assigned again. Until something is, librdkafka still fills its queue.
  void let_go(const TopicPartition& partition);

  // Serves the client's own errors, for which it waits `timeout_ms` at most (its messages go to the log), and positions
  // in doubt, for which it may wait 1.6 s longer. kFatal: it cannot go on. A source's `commit` does nothing.
  Status poll(int timeout_ms);

 private:
  class Core;
  explicit AssignedConsumer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace bloomring::kafka
