#include "schemas/window/window_state.h"

#include <catch2/catch.hpp>

#include "schemas/pieces/bytes.h"
#include "tests/state/window/numbered_blocks.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

StagedHour hour(int64_t number, int64_t from, int64_t to) {
  return {HourIndex(number), {Offset(from), Offset(to)}, 10, 100};
}

}  // namespace

TEST_CASE("window state: a state of version 4 has the filter view, with its notes as they stood between the fields") {
  std::string bytes(
      "\x04\x04\x00\x00\x00"
      "\xdd\x0b"
      "\xd6\xf0\x1b"
      "\x80\xbe\x80\x84\xee\x2f"  // Newest play.
      "\x80\xdd\xdb\x01"
      "\xf4\xc1\x80\x84\xee\x2f"
      "\x01"
      "\xd6\xf0\x1b"
      "\xdc\x0b"
      "\xdd\x0b"
      "\x0a"
      "\x64"
      "\x03"                      // Forgets,
      "\x98\xd9\xa4\x82\xee\x2f"  // late before.
      "\x07",
      44);
  seal(bytes, 'W');
  const WindowState state = decode_window_state(bytes, 4).value();
  CHECK(state.slot_ms == 3'600'000);
  CHECK(state.hours == std::vector<StagedHour>{hour(456790, 1500, 1501)});
  REQUIRE(state.views.size() == 1);
  CHECK(state.views[0] ==
        ViewState{"filters", "\x80\xbe\x80\x84\xee\x2f", {{Offset(6), "\x03\x98\xd9\xa4\x82\xee\x2f"}}});
  for (size_t size = 0; size + 4 < bytes.size(); ++size) {
    std::string shorter = bytes.substr(0, size);
    seal(shorter, 'W');
    REQUIRE(decode_window_state(shorter, 4).code() == Code::kCorrupt);
  }
}

TEST_CASE("window state: an end of batches that is no offset is corrupt") {
  const std::string before("\x05\x04\0\0\0" "\0\0\0\0" "\x01" "\0\0\0\0\0" "\x01" "\0\0", 18);
  for (const auto& [behind, code] : {std::pair(std::string("\x01"), Code::kOk),
                                     std::pair(std::string(8, '\xff') + "\x7f", Code::kOk),
                                     std::pair(std::string(9, '\x80') + "\x01", Code::kCorrupt),
                                     std::pair(std::string(9, '\xff') + "\x01", Code::kCorrupt)}) {
    std::string bytes = before + behind + '\0';
    seal(bytes, 'W');
    REQUIRE(decode_window_state(bytes, 4).code() == code);
  }
}

TEST_CASE("window state: its bytes are golden, come back as they went in, and every flipped bit is corrupt") {
  WindowState state;
  state.partition_count = kBlocksPartitionCount;
  state.hours = {hour(456789, 1000, 1500), hour(456790, 1500, 1501)};
  state.filling = HourIndex(456790);
  state.applied = Offset(1501);
  state.slot_ms = 3'600'000;
  state.log_time_ms = 1'644'444'000'500;
  state.views = {{"filters", "n", {{Offset(6), "ab"}, {}}}, {"v", "", {{}, {Offset(0), "c"}}}};
  std::string bytes;
  encode_window_state(state, bytes);
  const std::string golden(
      "\x05\x04\x00\x00\x00"
      "\xdd\x0b"
      "\xd6\xf0\x1b"
      "\x80\xdd\xdb\x01"
      "\xf4\xc1\x80\x84\xee\x2f"
      "\x02"
      "\xd5\xf0\x1b"
      "\xe8\x07"
      "\xdc\x0b"
      "\x0a"
      "\x64"
      "\xd6\xf0\x1b"
      "\xdc\x0b"
      "\xdd\x0b"
      "\x0a"
      "\x64"
      "\x02"
      "\x07"
      "filters"
      "\x01n"
      "\x07\x02"
      "ab"
      "\x00\x00"
      "\x01v"
      "\x00"
      "\x00\x00"
      "\x01\x01"
      "c",
      64);
  CHECK(bytes.substr(0, bytes.size() - 4) == golden);
  CHECK(decode_window_state(bytes, 4).value() == state);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE(decode_window_state(bad, 4).code() == Code::kCorrupt);
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE(decode_window_state(bytes.substr(0, size), 4).code() == Code::kCorrupt);
  }
  CHECK(decode_window_state(bytes, 5).code() == Code::kInvalid);
}
