#include "schemas/window/filter_notes.h"

#include <utility>

#include "schemas/pieces/bytes.h"

namespace bloomring {

namespace {

uint64_t number(int64_t time_ms) {
  BLOOMRING_CHECK(time_ms >= 0, "negative time");
  return static_cast<uint64_t>(time_ms);
}

bool read_to_end(const ByteReader& reader, uint64_t time_ms) {
  return reader.ok() && reader.at_end() && std::in_range<int64_t>(time_ms);
}

}  // namespace

void encode_view_note(int64_t newest_play_ms, std::string& out) {
  out.clear();
  ByteWriter(out).varint(number(newest_play_ms));
}

void encode_hour_note(const HourForgets& note, std::string& out) {
  out.clear();
  ByteWriter writer(out);
  writer.varint(note.forgets);
  writer.varint(number(note.late_before_ms));
}

Result<int64_t> decode_view_note(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint64_t newest_play_ms = reader.varint();
  if (!read_to_end(reader, newest_play_ms)) return corrupt("window state: the note of the filter view does not fit");
  return static_cast<int64_t>(newest_play_ms);
}

Result<HourForgets> decode_hour_note(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint64_t forgets = reader.varint();
  const uint64_t late_before_ms = reader.varint();
  if (!read_to_end(reader, late_before_ms))
    return corrupt("window state: the note of the filter view on an hour does not fit");
  return HourForgets{forgets, static_cast<int64_t>(late_before_ms)};
}

}  // namespace bloomring
