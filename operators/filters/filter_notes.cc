#include "operators/filters/filter_notes.h"

#include <algorithm>

namespace bloomring {

void FilterNotes::note(HourIndex hour, int64_t log_time_ms, uint64_t forgets, int64_t newest_play_ms) {
  const int64_t logged_ms = std::max<int64_t>(log_time_ms, 0);
  // The first record: the records merged below it were logged no later. (So were the forgets before them.)
  if (merged_below_) newest_play_ms_ = std::min(logged_ms, below_logged_ms_.value_or(logged_ms));
  // The first one after lost records: they were logged no later.
  if (lost_below_) newest_play_ms_ = std::max(newest_play_ms_, log_time_ms);
  merged_below_ = false;
  lost_below_ = false;
  HourForgets& noted = hours_.try_emplace(hour, HourForgets{0, newest_play_ms_}).first->second;
  noted.forgets += forgets;
  newest_play_ms_ = std::max(newest_play_ms_, newest_play_ms);
}

void FilterNotes::released(const std::vector<HourIndex>& hours) {
  for (const HourIndex hour : hours) hours_.erase(hour);
}

HourForgets FilterNotes::of(HourIndex hour) const {
  const auto found = hours_.find(hour);
  if (found != hours_.end()) return found->second;
  return {0, lost_below_ ? HourForgets::kNotKnown : newest_play_ms_};
}

void FilterNotes::save(const std::vector<StagedHour>& hours, ViewState& state) const {
  encode_view_note(newest_play_ms_, state.note);
  for (size_t i = 0; i < hours.size(); ++i) encode_hour_note(of(hours[i].hour), state.hours[i].note);
}

Result<FilterNotes> FilterNotes::restore(const ViewState& state, const std::vector<StagedHour>& hours) {
  FilterNotes notes;
  BLOOMRING_TRY_ASSIGN(notes.newest_play_ms_, decode_view_note(state.note));
  for (size_t i = 0; i < hours.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(const HourForgets noted, decode_hour_note(state.hours[i].note));
    // The filling hour is noted with its first record.
    const bool noted_yet = hours[i].events > 0 || i + 1 < hours.size();
    if (noted_yet && noted.late_before_ms != HourForgets::kNotKnown) notes.hours_.emplace(hours[i].hour, noted);
    notes.lost_below_ = noted.late_before_ms == HourForgets::kNotKnown;
  }
  return notes;
}

}  // namespace bloomring
