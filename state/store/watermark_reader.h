// The merged watermarks of a view's store and its key of slot ends, as the window stage reads them.
//
// Errors: kRetry when the store is not reachable or stalls, kCorrupt for bytes that are not ours, kFatal when the store
// cannot continue.
// Threading: thread safe.
#pragma once

#include <optional>

#include "base/ids.h"
#include "base/keyed_sum.h"
#include "base/result.h"
#include "schemas/watermark.h"

namespace bloomring {

class WatermarkReader {
 public:
  virtual ~WatermarkReader() = default;
  // The partition's watermark, or nothing when none was ever written. May wait for the store: for places where a
  // partition opens, never for a step of a task.
  virtual Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) = 0;
  // The same as the store last said, without waiting for it: at most as old as the last `refresh`.
  virtual Result<std::optional<MergedWatermark>> heard_watermark(PartitionId partition) = 0;
  // The key under which the window stage sums the view's slot ends; as heard, without waiting. Nothing until a process
  // has opened the store for writing.
  virtual Result<std::optional<SumKey>> slot_end_key() = 0;
  // Catches up with the writes of other processes. May wait; its owner calls it by timer.
  virtual Status refresh() = 0;
};

}  // namespace bloomring
