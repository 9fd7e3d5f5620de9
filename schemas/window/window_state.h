// The state of a window store (state/window/window_store.h), of its hours and views, and its bytes in the pieces of
// schemas/pieces/bytes.h:
//
//   version:u8=5 partition_count:u32 applied:varint filling:varint slot:varint log_time:varint
//   hour_count:varint hour{hour_count} view_count:varint view{view_count} sum:u32
//   hour := number:varint from:varint to:varint events:varint bytes:varint
//   view := name:bytes note:bytes view_hour{hour_count}
//   view_hour := drained_behind:varint note:bytes
//
// `drained_behind` is 0 for none, else the offset and 1. Notes are the view's (schemas/window/filter_notes.h).
// Versions 3 and 4 had one view, "filters", whose notes stood between the other fields; version 3 had no slot, log_time
// and drained_behind.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

// One hour's contiguous range of offsets and its staged records.
struct StagedHour {
  HourIndex hour;
  OffsetRange range;  // Of the filling hour: up to the applied offset. May be empty.
  uint64_t events = 0;
  uint64_t bytes = 0;  // Of the staged blocks.
  bool operator==(const StagedHour&) const = default;
};

// The part of the state that belongs to one view (operators/view.h). Only the view reads its notes.
struct ViewState {
  struct Hour {
    // End of the view's topic of batches at the start of the drain whose slot end names this hour: that slot end is at
    // or after it. -1 before such a drain, and where the end was not known.
    Offset drained_behind{-1};
    std::string note = {};
    bool operator==(const Hour&) const = default;
  };
  std::string name;
  std::string note = {};
  std::vector<Hour> hours = {};  // One for each hour of the state, in their order.
  bool operator==(const ViewState&) const = default;
};

struct WindowState {
  Offset applied{0};              // The next offset to be applied.
  HourIndex filling{0};           // The hour that is filling.
  std::vector<StagedHour> hours;  // Ascending; the last is the filling one. All before are sealed and unmerged.
  uint32_t partition_count = 0;
  int64_t slot_ms = 0;      // Length of the hours; 0 in a state that does not say.
  int64_t log_time_ms = 0;  // Log time (operators/log_clock.h); 0 where it is not known.
  std::vector<ViewState> views;
  bool operator==(const WindowState&) const = default;
};

// Replaces `out`, keeping its memory. Hours, offsets and times are not negative; each view has one entry for each hour.
void encode_window_state(const WindowState& state, std::string& out);
// Strict: kCorrupt for bytes that `encode_window_state` makes of no state; kInvalid when the state belongs to another
// partition count.
Result<WindowState> decode_window_state(std::string_view bytes, uint32_t partition_count);

}  // namespace bloomring
