// A second view, as docs/architecture.md tells to add one: when each user played each item last. Its store is a map in
// memory.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "pipeline/settings/topology.h"
#include "pipeline/stages/view_row.h"

namespace bloomring::testing {

class LastPlayed final : public WatermarkReader {
 public:
  using Times = std::map<std::pair<std::string, ItemHash>, int64_t>;  // By UserKey bytes and item; event times in ms.

  // The later of two plays of an item stays, so that merging twice changes nothing.
  void played(std::string_view user_key, ItemHash item, int64_t time_ms);
  void advance(PartitionId partition, const MergedWatermark& watermark);
  Times times() const;
  // FAULT: nobody reaches the store.
  void set_away(bool away);
  bool away() const;

  Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) override;
  Result<std::optional<MergedWatermark>> heard_watermark(PartitionId partition) override {
    return read_watermark(partition);
  }
  Result<std::optional<SumKey>> slot_end_key() override { return std::optional(SumKey{}); }
  Status refresh() override { return {}; }

 private:
  mutable std::mutex mutex_;
  Times times_;
  std::map<PartitionId, MergedWatermark> watermarks_;
  bool away_ = false;
};

std::unique_ptr<View> last_played_view(PartitionId partition, uint32_t partition_count);
// `store` outlives the merge.
std::unique_ptr<ViewMerge> last_played_merge(LastPlayed& store, PartitionId partition, uint32_t partition_count,
                                             int64_t slot_ms);

// The row of the view, and of the stage that merges it. Their store lives as long as the program.
const ViewRow& last_played_row();
StageRow last_played_stage();
LastPlayed& last_played();

}  // namespace bloomring::testing
