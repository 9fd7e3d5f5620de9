#include "schemas/window/window_state.h"

#include <utility>

#include "schemas/pieces/bytes.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 5;
constexpr uint8_t kVersionOfOneView = 4;
constexpr uint8_t kVersionWithoutSlot = 3;
constexpr uint8_t kSealKind = 'W';
constexpr std::string_view kOneView = "filters";

uint64_t number(int64_t value) {
  BLOOMRING_CHECK(value >= 0, "negative hour, offset or time");
  return static_cast<uint64_t>(value);
}

int64_t read_number(ByteReader& reader) { return static_cast<int64_t>(reader.varint()); }

// -1 for 0; less, which is not sound, for what no offset can be.
Offset read_drained_behind(ByteReader& reader) {
  const uint64_t behind = reader.varint();
  return Offset(std::in_range<int64_t>(behind) ? static_cast<int64_t>(behind) - 1 : -2);
}

void write_hour(ByteWriter& writer, const StagedHour& hour) {
  writer.varint(number(hour.hour.value));
  writer.varint(number(hour.range.from.value));
  writer.varint(number(hour.range.to.value));
  writer.varint(hour.events);
  writer.varint(hour.bytes);
}

StagedHour read_hour(ByteReader& reader) {
  StagedHour hour;
  hour.hour = HourIndex(read_number(reader));
  hour.range.from = Offset(read_number(reader));
  hour.range.to = Offset(read_number(reader));
  hour.events = reader.varint();
  hour.bytes = reader.varint();
  return hour;
}

void write_view(ByteWriter& writer, const ViewState& view) {
  writer.bytes(view.name);
  writer.bytes(view.note);
  for (const ViewState::Hour& hour : view.hours) {
    writer.varint(number(hour.drained_behind.value + 1));
    writer.bytes(hour.note);
  }
}

ViewState read_view(ByteReader& reader, size_t hours) {
  ViewState view;
  view.name = reader.bytes();
  view.note = reader.bytes();
  for (size_t i = 0; i < hours && reader.ok(); ++i) {
    ViewState::Hour& hour = view.hours.emplace_back();
    hour.drained_behind = read_drained_behind(reader);
    hour.note = reader.bytes();
  }
  return view;
}

// So many varints, as they stand in the bytes.
std::string_view read_raw_varints(ByteReader& reader, std::string_view body, int count) {
  const size_t begin = body.size() - reader.left();
  for (int i = 0; i < count; ++i) reader.varint();
  return body.substr(begin, body.size() - reader.left() - begin);
}

void read_views(ByteReader& reader, WindowState& state) {
  for (StagedHour& hour : state.hours) hour = read_hour(reader);
  const uint64_t views = reader.varint();
  for (uint64_t i = 0; i < views && reader.ok(); ++i) state.views.push_back(read_view(reader, state.hours.size()));
}

// Of versions 3 and 4: the fields of the hour, then its note.
void read_one_view(ByteReader& reader, std::string_view body, uint8_t version, WindowState& state) {
  for (StagedHour& staged : state.hours) {
    staged = read_hour(reader);
    ViewState::Hour& hour = state.views.front().hours.emplace_back();
    hour.note = read_raw_varints(reader, body, 2);
    if (version != kVersionWithoutSlot) hour.drained_behind = read_drained_behind(reader);
  }
}

bool sound(const WindowState& state) {
  for (const StagedHour& hour : state.hours) {
    if (hour.hour.value < 0 || hour.range.from.value < 0 || hour.range.to.value < 0) return false;
  }
  for (const ViewState& view : state.views) {
    for (const ViewState::Hour& hour : view.hours) {
      if (hour.drained_behind.value < -1) return false;
    }
  }
  return state.applied.value >= 0 && state.filling.value >= 0 && state.slot_ms >= 0 && state.log_time_ms >= 0;
}

}  // namespace

void encode_window_state(const WindowState& state, std::string& out) {
  out.clear();
  ByteWriter writer(out);
  writer.u8(kVersion);
  writer.u32(state.partition_count);
  writer.varint(number(state.applied.value));
  writer.varint(number(state.filling.value));
  writer.varint(number(state.slot_ms));
  writer.varint(number(state.log_time_ms));
  writer.varint(state.hours.size());
  for (const StagedHour& hour : state.hours) write_hour(writer, hour);
  writer.varint(state.views.size());
  for (const ViewState& view : state.views) {
    BLOOMRING_CHECK(view.hours.size() == state.hours.size(), "a view has one entry for each hour");
    write_view(writer, view);
  }
  seal(out, kSealKind);
}

Result<WindowState> decode_window_state(std::string_view bytes, uint32_t partition_count) {
  std::string_view body;
  if (!open_sealed(bytes, kSealKind, &body)) return corrupt("window state: checksum differs");
  ByteReader reader(body);
  const uint8_t version = reader.u8();
  if (version < kVersionWithoutSlot || version > kVersion)
    return corrupt("window state: format version " + std::to_string(version) + " is not known");
  const bool one_view = version <= kVersionOfOneView;
  WindowState state;
  state.partition_count = reader.u32();
  state.applied = Offset(read_number(reader));
  state.filling = HourIndex(read_number(reader));
  if (one_view) state.views.push_back({std::string(kOneView), std::string(read_raw_varints(reader, body, 1))});
  if (version != kVersionWithoutSlot) {
    state.slot_ms = read_number(reader);
    state.log_time_ms = read_number(reader);
  }
  const uint64_t hour_count = reader.varint();
  if (hour_count > reader.left()) return corrupt("window state: fields do not fit");
  state.hours.resize(hour_count);
  if (one_view) {
    read_one_view(reader, body, version, state);
  } else {
    read_views(reader, state);
  }
  if (!reader.ok() || !reader.at_end() || !sound(state)) return corrupt("window state: fields do not fit");
  if (state.partition_count != partition_count) {
    return invalid("the window store was made for " + std::to_string(state.partition_count) +
                   " partitions, the configuration says " + std::to_string(partition_count) +
                   ": set the old partition count again, or remove the window stage's folder (it is read again from "
                   "the log)");
  }
  return state;
}

}  // namespace bloomring
