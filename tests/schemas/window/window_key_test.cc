#include "schemas/window/window_key.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <vector>

using namespace bloomring;

TEST_CASE("window key: its bytes are golden, and it is read back as its own kind alone") {
  const std::string block = window_block_key(HourIndex(0x0102), Offset(0x0304));
  CHECK(block == std::string("\0\0\0\0\0\0\1\2\0\0\0\0\0\0\3\4\1", 17));
  CHECK(parse_window_block_key(block) == Offset(0x0304));
  CHECK_FALSE(parse_window_state_key(block).has_value());

  const std::string place = window_place(HourIndex(0x0102), Offset(0x0304));
  const std::string state = window_state_key(place, 5);
  CHECK(state == std::string("\0\0\0\0\0\0\1\2\0\0\0\0\0\0\3\4\0\0\0\0\0\0\0\0\5", 25));
  REQUIRE(parse_window_state_key(state).has_value());
  CHECK(parse_window_state_key(state)->place == place);
  CHECK(parse_window_state_key(state)->saves == 5);
  CHECK_FALSE(parse_window_block_key(state).has_value());
  for (const std::string& key : {block, state}) {
    for (size_t size = 0; size < key.size(); ++size) {
      if (size == block.size()) continue;
      CHECK_FALSE(parse_window_block_key(key.substr(0, size)).has_value());
      CHECK_FALSE(parse_window_state_key(key.substr(0, size)).has_value());
    }
  }
}

TEST_CASE("window key: keys sort by hour, offset, states before the block of their place, and saves") {
  const auto state = [](int64_t hour, int64_t offset, int64_t saves) {
    return window_state_key(window_place(HourIndex(hour), Offset(offset)), saves);
  };
  const auto block = [](int64_t hour, int64_t offset) { return window_block_key(HourIndex(hour), Offset(offset)); };
  const auto begin = [](int64_t hour) { return window_hour_begin(HourIndex(hour)); };
  const std::vector<std::string> keys = {begin(7),        state(7, 0, 0),   block(7, 0),     state(7, 255, 9),
                                         state(7, 255, 256), block(7, 255), state(7, 256, 1), block(7, 256),
                                         begin(8),        block(8, 0),      state(300, 0, 0)};
  CHECK(std::ranges::is_sorted(keys));
}
