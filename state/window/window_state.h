// The bytes of a WindowState (state/window/window_store.h) in a window store, in the pieces of schemas/bytes.h:
//
//   version:u8=5 partition_count:u32 applied:varint filling:varint slot:varint log_time:varint
//   hour_count:varint hour{hour_count} view_count:varint view{view_count} sum:u32
//   hour := number:varint from:varint to:varint events:varint bytes:varint
//   view := name:bytes note:bytes view_hour{hour_count}
//   view_hour := drained_behind:varint note:bytes
//
// `drained_behind` is 0 for none, else the offset and 1. Notes are the view's (operators/filters/filter_notes.h).
// Versions 3 and 4 had one view, "filters", whose notes stood between the other fields; version 3 had no slot, log_time
// and drained_behind.
// Threading: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "state/window/window_store.h"

namespace bloomring {

// Replaces `out`, keeping its memory. Hours, offsets and times are not negative; each view has one entry for each hour.
void encode_window_state(const WindowState& state, std::string& out);
// Strict: kCorrupt for bytes that `encode_window_state` makes of no state; kInvalid when the state belongs to another
// partition count.
Result<WindowState> decode_window_state(std::string_view bytes, uint32_t partition_count);

}  // namespace bloomring
