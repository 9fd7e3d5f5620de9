// The filter view's notes on each hour: which forgets are late.
//
// A forget is late when plays after it may be in hours before its own: when it happened before the newest play below
// the hour's first offset, whatever the clocks of ingest and the brokers say. For plays that the window has not seen,
// the time at which they were logged bounds their event times:
//   merged below the base     logged no later than the last record below the base
//   lost from the log unread  logged no later than the first record after them; some may be merged ahead
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/window/filter_notes.h"
#include "state/window/window_store.h"

namespace bloomring {

using ForgetsByHour = std::map<HourIndex, HourForgets>;

class FilterNotes {
 public:
  // Of a ring without hours. `merged_below`: records below its base may be merged.
  explicit FilterNotes(bool merged_below = false) : merged_below_(merged_below) {}
  // kCorrupt for notes that `save` did not make.
  static Result<FilterNotes> restore(const ViewState& state, const std::vector<StagedHour>& hours);

  // The last record below the base was logged at this time. Call it before the first `note`, if the log still has that
  // record; otherwise the time of the first noted record is used.
  void set_base_log_time(int64_t log_time_ms) { below_logged_ms_ = log_time_ms; }
  // The log has lost records below the next one. Saved notes say so until that one is noted.
  void lost_records() { lost_below_ = true; }
  // Times in ms; `newest_play_ms` is an event time, 0 without plays.
  void note(HourIndex hour, int64_t log_time_ms, uint64_t forgets, int64_t newest_play_ms);
  void released(const std::vector<HourIndex>& hours);

  // Of an hour without a record: as its first record would find it.
  HourForgets of(HourIndex hour) const;
  // As schemas/window/filter_notes.h.
  void save(const std::vector<StagedHour>& hours, ViewState& state) const;

 private:
  ForgetsByHour hours_;
  int64_t newest_play_ms_ = 0;  // No play noted is newer, and none merged below the base.
  bool merged_below_;           // And no record is noted yet.
  std::optional<int64_t> below_logged_ms_;
  bool lost_below_ = false;  // Records were lost, and none after them is noted yet.
};

}  // namespace bloomring
