// A stage that has a task for each partition: window and merge.
//
//   group poller --on_assign--> make the task, hand it to a worker --step, step, ...--> on_revoke: close, destroy
//
// Threading: a task belongs to one worker. The worker's thread makes the reports, about four times a second.
// Errors: a task that fails ends the process through StageContext::on_failure.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/io/task.h"
#include "pipeline/kafka/consumer/group_consumer.h"
#include "pipeline/runtime/opening.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/base/group_poller.h"
#include "pipeline/stages/base/stage_context.h"

namespace bloomring {

class PartitionStage : public Stage, private kafka::GroupListener {
 public:
  struct Kind {
    std::string opens;  // The stage's first step with a partition, in words: "opens its local state".
    MemoryUse queue;    // The part of memory.limit for the queue of its consumer.
  };
  PartitionStage(StageContext context, Kind kind, std::string topic, size_t threads);
  ~PartitionStage() override = default;  // The derived class has called `stop`.

  Status start() override;
  // Closes every task, then leaves.
  void stop(StopMode mode) override;

 protected:
  struct PartitionWork {
    std::unique_ptr<PartitionTask> task;
    Offset start;
  };
  // Decides where the partition starts and makes its task. On the poller's thread.
  virtual Result<PartitionWork> make(PartitionId partition, const kafka::PartitionFacts& facts,
                            std::unique_ptr<Source> source) = 0;
  // Hands the task's counts and levels to the metrics. On the task's worker.
  virtual void report(PartitionId partition, PartitionTask& task) = 0;
  // The partition was given back or `lost`: this process no longer reports its levels
  // (pipeline/metrics/partition_levels.h).
  virtual void untrack(PartitionId partition, bool lost) = 0;

  const StageContext& context() const { return context_; }
  // A task writes to a shared store or topic only while this lease is held.
  const Lease& lease() const { return lease_; }
  std::unique_ptr<Sink> make_sink();
  const std::string& topic() const { return topic_; }

 private:
  // Partitions assigned since the last log line about them. Of the poller's thread.
  struct NewPartitions {
    size_t partitions = 0;
    int64_t records_to_go = 0;
  };
  struct Member {
    std::unique_ptr<PartitionTask> task;
    size_t worker;
  };

  Result<Offset> on_assign(const kafka::TopicPartition& partition, const kafka::PartitionFacts& facts,
                           std::unique_ptr<Source> source) override;
  void on_revoke(std::span<const kafka::TopicPartition> partitions, bool lost) override;
  void report_all(size_t worker);
  void on_handed_out() override;
  void log_opening(const kafka::TopicPartition& at);

  const StageContext context_;
  const std::string stage_;  // The row's name: of the consumer group, threads and metrics.
  const std::string topic_;
  const MemoryUse queue_;
  Lease lease_;               // Of the poller's thread.
  std::mutex members_mutex_;  // Guards the map; a task itself belongs to its worker.
  std::map<PartitionId, Member> members_;
  NewPartitions new_partitions_;
  Opening opening_;
  bool handed_out_ = false;  // At least once: then /readyz need not name what opens. Of the poller's thread.
  std::vector<std::unique_ptr<Worker>> workers_;
  Worker poll_worker_;
  GroupPoller poller_;
};

}  // namespace bloomring
