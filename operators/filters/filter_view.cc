#include "operators/filters/filter_view.h"

namespace bloomring {

std::unique_ptr<ViewDrain> FilterView::drain(Drain drain) {
  ForgetsByHour forgets;
  for (const StagedHour& staged : drain.hours) forgets[staged.hour] = notes_.of(staged.hour);
  for (const StagedHour& staged : drain.earlier) forgets[staged.hour] = notes_.of(staged.hour);
  return std::make_unique<SlotDrain>(std::move(drain), std::move(forgets), partition_, partition_count_, config_);
}

Status FilterView::restore(const ViewState& state, const std::vector<StagedHour>& hours) {
  BLOOMRING_TRY_ASSIGN(notes_, FilterNotes::restore(state, hours));
  return {};
}

void FilterView::note(HourIndex hour, int64_t log_time_ms, const EventBlockReader* block) {
  notes_.note(hour, log_time_ms, block == nullptr ? 0 : block->forgets(),
              block == nullptr ? 0 : block->newest_play_ms());
}

}  // namespace bloomring
