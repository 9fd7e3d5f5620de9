// The merge stage's task of one partition: a view's batches in, its store and merged watermark out.
//
// Guarantees, each a law of the simulation:
//   - the task commits an offset of the topic only directly after a slot end, when the watermark that the slot end
//     allows is durable: a start there reads every slot end together with all of its batches
//     (docs/decisions/0015-commits-behind-slot-ends.md);
//   - a record that is not a batch record is acknowledged in the dead-letter topic before a later one is read.
// A slot end that is not believed (operators/merge_progress.h) moves nothing; the task warns of it, once a minute.
// While the store is away the task stays at its record: each step tries it again, and nothing else is read.
// Threading: see Task.
// Errors: see Task.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operators/view_merge.h"
#include "pipeline/io/io.h"
#include "pipeline/io/task.h"
#include "pipeline/tasks/dead_letter.h"
#include "schemas/topics.h"

namespace bloomring {

struct MergeTaskConfig {
  PartitionId partition;
  std::string stage = "merge";  // As dead letters name it.
  std::string batches_topic = default_topic_name(TopicRole::kUserBatches);
  std::string dead_topic = default_topic_name(TopicRole::kDeadLetters);
  size_t records_per_step = 32;
};

class MergeTask final : public PartitionTask {
 public:
  MergeTask(MergeTaskConfig config, std::unique_ptr<ViewMerge> merge, std::unique_ptr<Source> source,
            std::unique_ptr<Sink> sink);

  Result<bool> step(int64_t now_ms) override;
  // Nothing to do: the next owner reads the records since the last slot end again.
  Status close() override { return {}; }

  const ViewMerge& merge() const { return *merge_; }
  const Source& source() const { return *source_; }
  Offset applied() const { return applied_; }  // Every record below it was applied; negative before the first step.
  Offset committed() const { return committed_; }
  uint64_t dead_letters() const { return letters_.letters(); }
  uint64_t store_retries() const { return store_retries_; }

 private:
  Result<bool> take_record();
  Status apply_record(int64_t now_ms);
  void warn_of(std::string_view doubt, int64_t now_ms);
  Status take_acks();
  void pass_to(Offset position);
  void commit();

  MergeTaskConfig config_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
  // The record under way, which may take several steps: the source keeps its bytes until its next `poll`.
  std::optional<LogRecord> record_;
  std::unique_ptr<ViewMerge> merge_;  // Ends before the source and the record, from which it borrows.
  DeadLetterGate letters_;
  bool between_slot_ends_ = false;  // Records were applied since the last slot end, or since the start.
  Offset applied_{-1};
  Offset committed_{-1};
  uint64_t store_retries_ = 0;
  std::optional<int64_t> warned_at_ms_;  // Of a slot end that is not believed.
  std::vector<uint64_t> acks_;
};

}  // namespace bloomring
