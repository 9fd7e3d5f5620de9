// The filter view: a drain packs the plays and forgets of a slot into user batches (operators/filters/slot_drain.h),
// and the merge stage unites them with the users' filters (operators/filters/merge.h).
// Threading: used by the partition's task.
#pragma once

#include "operators/filters/filter_notes.h"
#include "operators/filters/slot_drain.h"
#include "operators/view.h"

namespace bloomring {

class FilterView final : public View {
 public:
  FilterView(PartitionId partition, uint32_t partition_count, SlotDrainConfig config)
      : partition_(partition), partition_count_(partition_count), config_(config) {}

  std::string_view name() const override { return "filters"; }
  std::unique_ptr<ViewDrain> drain(Drain drain) override;

  void begin(bool merged_below) override { notes_ = FilterNotes(merged_below); }
  Status restore(const ViewState& state, const std::vector<StagedHour>& hours) override;
  void set_base_log_time(int64_t log_time_ms) override { notes_.set_base_log_time(log_time_ms); }
  void lost_records() override { notes_.lost_records(); }
  void note(HourIndex hour, int64_t log_time_ms, const EventBlockReader* block) override;
  void released(const std::vector<HourIndex>& hours) override { notes_.released(hours); }
  void save(const std::vector<StagedHour>& hours, ViewState& state) const override { notes_.save(hours, state); }

 private:
  const PartitionId partition_;
  const uint32_t partition_count_;
  const SlotDrainConfig config_;
  FilterNotes notes_;
};

}  // namespace bloomring
