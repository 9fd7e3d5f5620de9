// The views as data: one row for each (operators/view.h). The window stage drains the ring for every row; a row names
// the stage that merges it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "operators/view.h"
#include "operators/view_merge.h"
#include "pipeline/runtime/lease.h"
#include "pipeline/stages/base/stage_context.h"
#include "schemas/topics.h"
#include "state/store/watermark_reader.h"

namespace bloomring {

struct ViewRow {
  std::string_view name;         // View::name.
  std::string_view merge_stage;  // The stage whose consumer group merges the view.
  TopicRole batches;  // The view's topic of batches: as many partitions as user-events (TopicPartitions::kByShard).
  // Where the window stage reads the view's merged watermarks.
  WatermarkReader& (*watermarks)(const StageContext& context) = nullptr;
  // One partition of the view at the window stage...
  std::unique_ptr<View> (*view)(const StageContext& context, PartitionId partition) = nullptr;
  // ...and at its merge stage. The merge writes to the view's store only while the lease is held.
  Result<std::unique_ptr<ViewMerge>> (*merge)(const StageContext& context, const Lease& lease,
                                              PartitionId partition) = nullptr;
};
using ViewRows = std::span<const ViewRow>;

// The product's views, in the order in which a window step serves them. Live as long as the program.
ViewRows views();
const ViewRow& filter_view_row();

}  // namespace bloomring
