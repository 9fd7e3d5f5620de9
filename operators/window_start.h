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
// Local state is usable when it continues where the store ends: it holds every applied event that the watermark does
// not cover (else the store went back to a backup and needs what was released here), its applied offset is not below
// the watermark (else another owner went further).
// Hours of another length than the configured one are refused with the way out (state/slot_length.h); local state whose
// hours are older than the watermark's change of length is not usable.
// "Refuse" becomes "go on without these events" when the operator accepts it, except where the log ends too early: then
// later records take the offsets of others, of which watermark, local state or slot ends that nobody has read yet say
// that they are merged. Only `store new-log` ends what these say. What is staged locally is kept where it can be.
#pragma once

#include <optional>
#include <string>

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
  bool accept_lost_events = false;  // The operator's word that a gap may be skipped (state.accept_lost_events).
  int64_t slot_ms = 0;              // As configured; 0: as stored, whatever that is.
};

struct WindowStart {
  bool resume = false;   // Use the local state; otherwise wipe it.
  Offset read_from;      // The first offset to read: one before, where the log has it, the first that is to be applied.
  Offset base;           // Where the ring's first hour starts when the state is wiped.
  HourIndex first_hour;  // A ring without hours begins with no hour before it: those are merged.
  std::string reason;    // One sentence for the log.
  // Goes on without records that the log has lost, since the operator accepts that; a restored ring is to be told
  // (Ring::lost_records).
  bool lost = false;
};

// kInvalid for another length of slots; kFatal with the numbers and the way out where the table says refuse; kRetry,
// with the same, where the log seems to end too early: a broker that stood still and goes on may say so of its older
// log for a moment.
Result<WindowStart> decide_window_start(const WindowStartFacts& given);

// True when local state and watermark together account for every event below the applied offset: what is not held
// locally is merged. False after the filter store went back to a backup.
bool accounts_for_all(const WindowState& local, const MergedWatermark& watermark);

// "75 records of user-events from offset 100 are not merged and no longer in the log, which starts at 175: ..." and the
// way out.
std::string describe_lost_events(Offset from, Offset log_start);

}  // namespace bloomring
