#include "schemas/window/filter_notes.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::string of_view(int64_t newest_play_ms) {
  std::string bytes = "old";
  encode_view_note(newest_play_ms, bytes);
  return bytes;
}

std::string of_hour(const HourForgets& note) {
  std::string bytes = "old";
  encode_hour_note(note, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("filter notes: their bytes are golden, and come back as they went in up to the largest numbers") {
  CHECK(of_view(0) == std::string(1, '\0'));
  CHECK(of_view(1'649'318'399'950) == "\xce\x9f\xa6\x98\x80\x30");
  CHECK(of_hour({3, 300}) == "\x03\xac\x02");
  for (const int64_t time_ms : {int64_t{0}, int64_t{1}, int64_t{127}, int64_t{128}, INT64_MAX - 1, INT64_MAX}) {
    CHECK(decode_view_note(of_view(time_ms)).value() == time_ms);
    for (const uint64_t forgets : {uint64_t{0}, uint64_t{128}, UINT64_MAX}) {
      const HourForgets note{forgets, time_ms};
      CHECK(decode_hour_note(of_hour(note)).value() == note);
    }
  }
  CHECK(decode_hour_note(of_hour({1, HourForgets::kNotKnown})).value().late_before_ms == HourForgets::kNotKnown);
}

TEST_CASE("filter notes: notes that are short, long, beyond every time or not in the shortest form are corrupt") {
  const std::string beyond = std::string(9, '\x80') + '\x01';  // 2^63.
  for (const std::string& bytes :
       {std::string(), std::string("\x80"), std::string("\0\0", 2), std::string("\x80\0", 2), beyond}) {
    CHECK(decode_view_note(bytes).code() == Code::kCorrupt);
  }
  for (const std::string& bytes : {std::string(), std::string("\x01"), std::string("\x01\x80"), "\x01" + beyond,
                                   std::string("\x01\x80\0", 3), std::string("\x01\x01\x01")}) {
    CHECK(decode_hour_note(bytes).code() == Code::kCorrupt);
  }
}
