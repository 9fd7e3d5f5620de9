#include "pipeline/stages/view_row.h"

#include <array>

#include "operators/filters/filter_view.h"
#include "operators/filters/merge.h"
#include "pipeline/runtime/leased.h"
#include "pipeline/settings/settings.h"
#include "state/slot_length.h"

namespace bloomring {
namespace {

std::unique_ptr<View> filter_view(const StageContext& context, PartitionId partition) {
  SlotDrainConfig config;
  config.pass_bytes_max = context.plan.drain_pass_bytes(context.settings);
  return std::make_unique<FilterView>(partition, context.settings.topics.partitions, config);
}

Result<std::unique_ptr<ViewMerge>> merge_filters(const StageContext& context, const Lease& lease,
                                                 PartitionId partition) {
  const Settings& settings = context.settings;
  // Taken over first: from then on no earlier owner moves the watermark.
  BLOOMRING_TRY_ASSIGN(auto writer, context.stores.writer->take_over(partition));
  BLOOMRING_TRY_ASSIGN(auto watermark, context.stores.reader->read_watermark(partition));
  BLOOMRING_TRY(check_slot_length(watermark ? watermark->slot_ms : 0, settings.ring.slot_ms(), "the merged watermark"));
  BLOOMRING_TRY_ASSIGN(const auto key, context.stores.reader->slot_end_key());
  if (!key) return fatal("the filter store has no key of slot ends, although this process writes it");
  const MergeConfig config{partition, settings.topics.partitions, settings.ring.slot_ms(), *key};
  return std::unique_ptr<ViewMerge>(std::make_unique<Merge>(
      config, context.calendar, std::make_unique<LeasedWriter>(lease, std::move(writer)), std::move(watermark)));
}

}  // namespace

ViewRows views() {
  static const std::array<ViewRow, 1> kRows{{
      {.name = "filters",
       .merge_stage = "merge",
       .batches = TopicRole::kUserBatches,
       .watermarks = [](const StageContext& context) -> WatermarkReader& { return *context.stores.reader; },
       .view = filter_view,
       .merge = merge_filters},
  }};
  return kRows;
}

const ViewRow& filter_view_row() { return views().front(); }

}  // namespace bloomring
