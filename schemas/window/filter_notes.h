// The notes of the filter view in the state of a window store (schemas/window/window_state.h): one for the view and one
// for each of its hours, in the pieces of schemas/pieces/bytes.h:
//
//   view-note := newest-play:varint
//   hour-note := forgets:varint late-before:varint
//
// Times are Unix milliseconds, not negative; `late-before` is INT64_MAX where it is not known. The notes have no
// version and no sum: those of the state cover them. operators/filters/filter_notes.h has their meaning.
//
// Guarantees: each note has exactly one coding.
// Errors: kCorrupt for bytes that the encoders do not make.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

struct HourForgets {
  uint64_t forgets = 0;
  // A forget of the hour that happened before this time is late: a play after it may be in an earlier hour. kNotKnown
  // where records below the hour were lost and none after them was read yet.
  int64_t late_before_ms = 0;
  static constexpr int64_t kNotKnown = INT64_MAX;
  bool operator==(const HourForgets&) const = default;
};

// Both replace `out`.
void encode_view_note(int64_t newest_play_ms, std::string& out);
void encode_hour_note(const HourForgets& note, std::string& out);

Result<int64_t> decode_view_note(std::string_view bytes);
Result<HourForgets> decode_hour_note(std::string_view bytes);

}  // namespace bloomring
