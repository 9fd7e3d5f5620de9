// The bytes of a WindowState (state/window/window_store.h) in a window store, in the pieces of schemas/bytes.h:
//
//   version:u8=4 partition_count:u32 applied:varint filling:varint newest_play:varint slot:varint log_time:varint
//   hour_count:varint hour{hour_count} sum:u32
//   hour := number:varint from:varint to:varint events:varint bytes:varint forgets:varint late_before:varint
//           drained_behind:varint
//
// `drained_behind` is 0 for none, else the offset and 1. Version 3 had no slot, log_time and drained_behind.
// Threading: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "state/window/window_store.h"

namespace bloomring {

// Replaces `out`, keeping its memory. Hours, offsets and times are not negative.
void encode_window_state(const WindowState& state, std::string& out);
// Strict: kCorrupt for bytes that `encode_window_state` makes of no state; kInvalid when the state belongs to another
// partition count.
Result<WindowState> decode_window_state(std::string_view bytes, uint32_t partition_count);

}  // namespace bloomring
