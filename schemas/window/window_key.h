// The keys of a window store: of the blocks that are staged in it, and of its states.
//
//   block-key := hour:u64be offset:u64be 0x01
//   state-key := hour:u64be offset:u64be 0x00 saves:u64be
//
// Keys sort by hour and offset, their place. A state sorts before the block of its place, and after every block before
// it. States of one place sort by the number of writes to the store, `saves`. Hours, offsets and counts are not
// negative.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace bloomring {

// The key at which the hour begins: before its first state and block.
std::string window_hour_begin(HourIndex hour);
// The beginning of the keys of this hour and offset.
std::string window_place(HourIndex hour, Offset offset);

std::string window_block_key(HourIndex hour, Offset offset);
// The offset; nothing for the key of a state.
std::optional<Offset> parse_window_block_key(std::string_view key);

struct WindowStateKey {
  std::string_view place;  // Points into the key.
  int64_t saves = 0;
};
std::string window_state_key(std::string_view place, int64_t saves);
// Nothing for the key of a block.
std::optional<WindowStateKey> parse_window_state_key(std::string_view key);

}  // namespace bloomring
