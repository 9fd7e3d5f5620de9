// Where the window stage starts to read a partition: a pure decision from facts.
//
//   local state   the log            decision
//   usable        has its position   resume at the applied offset, after a look at the record before it
//   usable        starts beyond it   refuse: events between the applied offset and the log's start are gone
//   none/not      has the watermark  wipe, read from the watermark, after a look at the time of the record before it
//   none/not      starts beyond it   refuse: events between the watermark and the log's start are gone
//   none          no watermark       read from the start of the log: nothing was ever merged
//   any           ends before what is merged, or before the applied offset  refuse: it is another topic, or was cut
//
// Local state is usable when it continues where the store ends:
//   - it holds every applied event that the watermark does not cover; otherwise the store went back to a backup and
//     needs hours that were released here;
//   - its applied offset is not below the watermark; otherwise another owner went further;
//   - its hours have the configured slot length; otherwise `store slot-length` has changed the watermark's since.
// Refused with the way out (state/slot_length.h): a watermark of another length than the configured one, and local
// state of another length where the watermark's is unknown.
//
// When the operator accepts lost events, "refuse" becomes "continue without them", except where the log ends too early:
// later records would take offsets that the watermark, local state or unread slot ends count as merged. Only
// `store new-log` resets these. Locally staged events are kept where possible.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/watermark.h"
#include "state/window/window_store.h"

namespace bloomring {

struct WindowStartFacts {
  std::optional<WindowState> local;
  std::optional<MergedWatermark> watermark;
  Offset log_start;                 // First offset that the log still has.
  Offset log_end;                   // Offset of the next record to be written.
  bool accept_lost_events = false;  // The operator allows skipping a gap (state.accept_lost_events).
  int64_t slot_ms = 0;              // As configured; 0: accept any stored length.
};

struct WindowStart {
  bool resume = false;   // Use the local state; otherwise wipe it.
  Offset read_from;      // The first offset to read: one before the first to apply, where the log has it.
  Offset base;           // Where the ring's first hour starts when the state is wiped.
  HourIndex first_hour;  // The first hour of a ring without hours is this or later: earlier hours are merged.
  bool merged_below = false;  // Records below the base are merged.
  std::string reason;    // One sentence for the log.
  // Continues without records that the log has lost, as the operator accepts; the caller tells a restored ring
  // (Ring::end_filling, View::lost_records).
  bool lost = false;
};

// kInvalid for another length of slots; kFatal with the numbers and the way out where the table says refuse; kRetry,
// with the same, where the log seems to end too early: a broker that was frozen and resumes may answer with its older
// log for a moment.
Result<WindowStart> decide_window_start(const WindowStartFacts& given);

// Of a window with several views, each with a watermark of its own (`given.watermark` is not used). Local state is
// usable when it is for every view; a state without the notes of one of them is not. Otherwise the window reads from
// where the view that is farthest behind is merged: to the others, records that are merged already change nothing. A
// view whose store is away waits for no other one and no other one for it, as long as local state is usable for the
// others: the state has everything that the view had not merged, and the window notices later when the store went back.
// Without such a state only the store knows where to begin: kRetry.
struct ViewWatermark {
  std::string_view view;
  std::optional<MergedWatermark> watermark;
  bool away = false;  // The store did not say.
};
Result<WindowStart> decide_window_start(const WindowStartFacts& given, std::span<const ViewWatermark> views);

// True when every event below the applied offset is in one of the hours, oldest first, or merged. False after the
// view's store went back to a backup.
bool accounts_for_all(std::span<const StagedHour> unmerged, Offset applied, const MergedWatermark& watermark);

// "75 records of user-events from offset 100 are not merged and no longer in the log, which starts at 175: ..." and the
// way out.
std::string describe_lost_events(Offset from, Offset log_start);

}  // namespace bloomring
