// Asks the brokers for the committed offsets of a view's merge group in the view's topic of batches and for the start
// and end of each partition, for the window tasks of this process.
//
// Threading: one thread of its own asks, as often as eight times a slot, so that no task waits for brokers. `of` may
// be called from any thread.
// Errors: each partition fails alone. Without an answer it keeps its last values. After three asks in a row without an
// answer it reports `expected` = false: the window task then drains slots again that it would otherwise not drain
// again.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/runtime/worker.h"
#include "pipeline/stages/base/stage_context.h"
#include "pipeline/stages/view_row.h"
#include "pipeline/tasks/window_task.h"

namespace bloomring {

class ViewLogWatch final : public BatchesWatch {
 public:
  // `row` outlives the watch.
  ViewLogWatch(const StageContext& context, const ViewRow& row);
  ~ViewLogWatch() override;

  void add(PartitionId partition);
  void remove(PartitionId partition);
  BatchesLog of(PartitionId partition) const override;

 private:
  struct Watched {
    BatchesLog log{.expected = true};
    int unanswered = 0;
  };
  void ask();

  const StageContext context_;
  const ViewRow& row_;
  std::unique_ptr<kafka::AssignedConsumer> consumer_;  // Of the worker.
  mutable std::mutex mutex_;
  std::map<PartitionId, Watched> watched_;
  std::unique_ptr<Worker> worker_;  // Last: its thread uses the rest.
};

}  // namespace bloomring
