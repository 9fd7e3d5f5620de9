// Merges what stands unread in a partition of user-batches before the filter store forgets the log that it came from.
//
// Plays in unread batches are good for filters whatever becomes of user-events, but the offsets in their slot ends are
// of the old log. Read after the merged watermark begins anew, such a slot end would move it over records of the new
// log that nobody has merged. So they are merged while the old watermark is still there, and then removed.
// Guarantee: once `done`, all that stood below `read_to` is applied to the store; it is durable after the store's sync.
// Running it again from the same place is harmless, as merging always is.
// Threading: one thread. Failure: that of the store, of which kRetry ends it too: begin again; that of the source. A
// record that is no batch record is logged, counted and passed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "operators/merge.h"
#include "pipeline/io/io.h"

namespace bloomring {

class UnreadBatches {
 public:
  // `source` stands where the merge stage would begin (operators/merge_start.h); `end` is the end of the log, to which
  // nobody writes. `calendar` and `filters` outlive this.
  UnreadBatches(MergeConfig config, const Calendar& calendar, FilterStore& filters,
                std::optional<MergedWatermark> watermark, std::unique_ptr<Source> source, Offset end);

  bool done() const { return source_->position() >= end_; }
  // Applies what is at hand, a bounded number of records; false when nothing was.
  Result<bool> step(int64_t wall_ms);

  Offset read_to() const { return source_->position(); }
  const MergeStats& stats() const { return merge_.stats(); }
  uint64_t refused() const { return refused_; }

 private:
  const PartitionId partition_;
  std::unique_ptr<Source> source_;
  const Offset end_;
  Merge merge_;
  uint64_t refused_ = 0;
};

}  // namespace bloomring
