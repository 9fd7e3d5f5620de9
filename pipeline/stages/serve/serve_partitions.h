// The partitions that a serve replica holds. Partitions are independent: if the brokers, the log or the store refuse
// one, the others are still answered for.
//
//     waiting --store and brokers tell its log, and that goes on where the store ends--> read --> ready
//        ^                                                                          |
//        +---- its source fails: the topic was truncated, made again, or is gone ---+
//
// A partition that waits is not ready: the replica forwards or refuses calls about it, and `report` says why it waits.
// `tend` tries it again, without limit, until it can be read.
//
// Errors: a failure of one partition makes it wait. `tend`, or the task's step, returns a failure of all partitions
// (the client cannot go on, the store was restored from a backup).
// Threading: `tend` belongs to one thread, `report` and `close` to the worker's, which steps the tasks; `find` and
// `for_each` are thread safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/metrics/totals.h"
#include "operators/replica_start.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/metrics/partition_levels.h"
#include "pipeline/runtime/catch_up.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/base/stage_context.h"
#include "pipeline/tasks/replica_metrics.h"
#include "pipeline/tasks/replica_task.h"

namespace bloomring {

class ServePartitions {
 public:
  // Outlives `worker`, or was closed before. All references of the context outlive it.
  ServePartitions(const StageContext& context, const std::vector<PartitionId>& ids, Worker& worker);

  // Asks no broker.
  Status open();
  // Asks the brokers for the ends of the logs, and tries to place the partitions that wait. To be called about once a
  // second.
  Status tend();

  struct Readiness {
    size_t ready = 0;
    size_t catching_up = 0;
    size_t waiting = 0;
    std::string why;    // Of the first that waits: "user-events[3]: no broker leads it".
    std::string to_go;  // Of the partitions that catch up; see CatchUpReport::text.
  };
  // Makes partitions wait whose tasks failed, and updates the metrics.
  Readiness report();
  // Destroys all tasks.
  void close();

  std::shared_ptr<ReplicaPartition> find(PartitionId partition) const;
  void for_each(const std::function<void(const ReplicaPartition&)>& take) const;
  // The scenes that are known, for a site whose scenes have separate filters.
  AllScenes scenes() const;
  std::vector<PartitionStatus> status() const { return levels_.status(); }

 private:
  struct Member {
    std::shared_ptr<ReplicaPartition> partition;  // Shared with requests.
    std::unique_ptr<ReplicaTask> task;    // Null while it waits. The worker's, as all that follows.
    Totals<ReplicaCounts>::Share counted;
    MergedWatermark watermark;  // As the previous task last read it.
    std::string why_waiting;
  };
  struct PartitionStart {
    PartitionId id;
    ReplicaStart start;
    Offset log_end;          // For readers.
    Result<Offset> written;  // For writers.
    int64_t asked_at_ns;
  };

  kafka::TopicPartition at(PartitionId id) const { return {context_.settings.topics.name(TopicRole::kUserEvents), id}; }
  std::shared_ptr<ReplicaPartition> make_partition(PartitionId id, const ReplicaStart& start);
  std::string why_behind() const;
  std::vector<PartitionId> waiting() const;
  std::vector<PartitionId> placed() const;
  std::vector<Result<Offset>> written_ends(const std::vector<kafka::TopicPartition>& partitions);
  void ask_log_ends();
  Status place();
  void read_scenes();
  void begin_scenes();
  void take_scenes(const std::set<std::string>& stored);
  static Result<ReplicaStart> decide(const Result<std::optional<MergedWatermark>>& watermark,
                                     const Result<kafka::PartitionFacts>& facts,
                                     const Result<std::optional<Offset>>& young);
  Status begin(const std::vector<PartitionStart>& starts);
  void wait_because(PartitionId id, const Status& why, bool warn);
  void take_aside();
  void report(PartitionId id, Member& member);
  void set_aside(PartitionId id, Member& member);

  const StageContext context_;
  Worker& worker_;
  const size_t partitions_max_;
  Totals<ReplicaCounts> totals_;
  PartitionLevels levels_;
  CatchUpReport catch_up_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;  // Of the thread that tends.
  int64_t place_at_ns_ = INT64_MIN;
  int64_t warn_at_ns_ = INT64_MIN;
  const SceneRules scene_rules_;
  KnownScenes scenes_;
  int64_t read_scenes_at_ns_ = INT64_MIN;
  // A read of the store's scenes that is under way.
  struct ScenesRead {
    std::mutex mutex;
    std::optional<Result<std::set<std::string>>> ended;  // Guarded by the mutex.
  };
  std::shared_ptr<ScenesRead> scenes_read_;  // Shared with the reader.
  bool scenes_expected_again_ = false;       // Partitions started after it began.
  std::set<std::string> others_told_;  // Stored scenes that the site does not declare, as last warned.
  mutable std::mutex mutex_;               // Guards what follows; a task itself belongs to the worker.
  std::map<PartitionId, Member> members_;  // Of all that this replica holds.
  std::vector<PartitionId> aside_;         // Their sources failed; the consumer still knows them.
};

}  // namespace bloomring
