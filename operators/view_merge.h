// The merge stage's work on one partition of a view's topic of batches: see operators/view.h.
//
// Guarantees: a record that `apply` returned for is in the view's store; the merged watermark moves over an hour only
// when every batch of the hour's drain is durable there (operators/merge_progress.h).
// Errors: those of the view's store; the same record may be applied again.
// Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schemas/refusal.h"
#include "schemas/watermark.h"

namespace bloomring {

class ViewMerge {
 public:
  virtual ~ViewMerge() = default;

  struct Applied {
    Refusal refusal = Refusal::kNone;  // kBadBatch: nothing was applied; the caller writes a dead letter.
    bool slot_end = false;             // A place to restart from: a drain begins after it.
    std::string_view doubt = {};       // Why the slot end is not believed: its slot is drained again. A literal.
  };
  // Applies one record of the view's topic. Nothing while the store works: the caller then calls it again with the same
  // record, whose bytes stay in place. After an error the record begins from its beginning. `wall_ms` is the wall
  // clock's.
  virtual Result<std::optional<Applied>> apply(std::string_view record, int64_t wall_ms, std::string& detail) = 0;
  // The partition's watermark as this object moved it last; nothing before the first.
  virtual const std::optional<MergedWatermark>& watermark() const = 0;
};

}  // namespace bloomring
