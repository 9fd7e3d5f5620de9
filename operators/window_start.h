// Where the window stage starts to read a partition: a pure decision from facts.
//
//   local state      watermark            decision
//   usable           at or above its base  resume at the applied offset
//   none/not usable  W                     wipe, read from W: everything below is merged
//   none             none                  read from the start of the log: nothing was ever merged
//   any              below the log's start refuse: events between them are gone (retention was too short)
//   any              beyond the log's end  refuse: the topic is not the one that the store was filled from
//
// Local state is usable when it continues where the store ends: its first unmerged offset is not above the watermark
// (else the store went back to a backup and needs what was released here), its applied offset is not below the
// watermark (else another owner went further) and still in the log.
#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "state/watermark.h"
#include "state/window_store.h"

namespace bloomring {

struct WindowStartFacts {
  std::optional<WindowState> local;
  std::optional<MergedWatermark> watermark;
  Offset log_start;  // First offset that the log still has.
  Offset log_end;    // Offset of the next record to be written.
  bool accept_lost_events = false;  // The operator's word that a gap may be skipped (state.accept_lost_events).
};

struct WindowStart {
  bool resume = false;     // Use the local state; otherwise wipe it.
  Offset read_from;        // The first offset to read.
  Offset base;             // Where the ring's first hour starts when the state is wiped.
  std::string reason;      // One sentence for the log.
};

// kFatal with the numbers and the way out where the table says refuse.
Result<WindowStart> decide_window_start(const WindowStartFacts& facts);

}  // namespace bloomring
