// Asks the brokers how far the merge stage has come in user-batches, and where its partitions begin and end, for the
// window tasks of this process.
//
// Threading: one thread of its own asks, as often as eight times a slot, so that nobody waits for brokers; `of` may be
// called from anywhere. Failure, of each partition by itself: who is not answered keeps the last answer. Where nothing
// was answered three times, the task is told that nothing is to be expected: it drains again what it would else leave
// standing.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/stage_context.h"
#include "pipeline/tasks/window_task.h"

namespace bloomring {

class UserBatchesWatch final : public BatchesWatch {
 public:
  explicit UserBatchesWatch(const StageContext& context);
  ~UserBatchesWatch() override;

  void add(PartitionId partition);
  void remove(PartitionId partition);
  BatchesLog of(PartitionId partition) const override;

 private:
  struct Held {
    BatchesLog log{.expected = true};
    int unanswered = 0;
  };
  void ask();

  const StageContext context_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;  // Of the worker.
  mutable std::mutex mutex_;
  std::map<PartitionId, Held> held_;
  std::unique_ptr<Worker> worker_;  // Last: its thread uses the rest.
};

}  // namespace bloomring
