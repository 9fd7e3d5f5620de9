// Merges the unread records of a partition of user-batches before the filter store is switched to a new user-events
// log.
//
// Plays in unread batches belong in filters even when user-events was made again, but the offsets in their slot ends
// are of the old log. If such a slot end were read after the merged watermark was reset, it would move the watermark
// over records of the new log that are not merged. So the batches are merged under the old watermark, and then
// removed.
// Guarantees: once `done`, all records below `read_to` are applied to the store and durable.
// Running it again from the same offset is harmless, as merging is idempotent.
// Threading: one thread.
// Errors: those of the store and of the source. After any of them, also kRetry of the store, begin again. A record
// that is not a batch record is logged, counted and skipped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "operators/filters/merge.h"
#include "pipeline/io/io.h"

namespace bloomring {

class UnreadBatches {
 public:
  // `source` is at the offset where the merge stage would begin (operators/merge_start.h). `end` is the end of the
  // log; nothing writes to it meanwhile. `calendar` outlives this.
  UnreadBatches(MergeConfig config, const Calendar& calendar, std::unique_ptr<PartitionWriter> filters,
                std::optional<MergedWatermark> watermark, std::unique_ptr<Source> source, Offset end);

  bool done() const { return synced_; }
  // Applies a bounded number of available records; false when there was none, or while the store works.
  Result<bool> step(int64_t wall_ms);

  Offset read_to() const { return source_->position(); }
  const MergeStats& stats() const { return merge_.stats(); }
  uint64_t refused() const { return refused_; }

 private:
  bool all_applied() const { return !record_ && source_->position() >= end_; }

  const PartitionId partition_;
  std::unique_ptr<Source> source_;
  const Offset end_;
  std::optional<LogRecord> record_;  // The one under way.
  bool synced_ = false;
  Merge merge_;
  uint64_t refused_ = 0;
};

}  // namespace bloomring
