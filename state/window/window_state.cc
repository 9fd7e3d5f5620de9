#include "state/window/window_state.h"

#include "schemas/bytes.h"

namespace bloomring {

namespace {

constexpr uint8_t kVersion = 4;
constexpr uint8_t kVersionWithoutSlot = 3;
constexpr uint8_t kSealKind = 'W';

uint64_t number(int64_t value) {
  BLOOMRING_CHECK(value >= 0, "negative hour, offset or time");
  return static_cast<uint64_t>(value);
}

int64_t read_number(ByteReader& reader) { return static_cast<int64_t>(reader.varint()); }

void write_hour(ByteWriter& writer, const StagedHour& hour) {
  writer.varint(number(hour.hour.value));
  writer.varint(number(hour.range.from.value));
  writer.varint(number(hour.range.to.value));
  writer.varint(hour.events);
  writer.varint(hour.bytes);
  writer.varint(hour.forgets);
  writer.varint(number(hour.late_before_ms));
  writer.varint(number(hour.drained_behind.value + 1));
}

StagedHour read_hour(ByteReader& reader, uint8_t version) {
  StagedHour hour;
  hour.hour = HourIndex(read_number(reader));
  hour.range.from = Offset(read_number(reader));
  hour.range.to = Offset(read_number(reader));
  hour.events = reader.varint();
  hour.bytes = reader.varint();
  hour.forgets = reader.varint();
  hour.late_before_ms = read_number(reader);
  if (version != kVersionWithoutSlot) hour.drained_behind = Offset(read_number(reader) - 1);
  return hour;
}

bool negative(const StagedHour& hour) {
  return hour.hour.value < 0 || hour.range.from.value < 0 || hour.range.to.value < 0 || hour.late_before_ms < 0 ||
         hour.drained_behind.value < -1;
}

}  // namespace

void encode_window_state(const WindowState& state, std::string& out) {
  out.clear();
  ByteWriter writer(out);
  writer.u8(kVersion);
  writer.u32(state.partition_count);
  writer.varint(number(state.applied.value));
  writer.varint(number(state.filling.value));
  writer.varint(number(state.newest_play_ms));
  writer.varint(number(state.slot_ms));
  writer.varint(number(state.log_time_ms));
  writer.varint(state.hours.size());
  for (const StagedHour& hour : state.hours) write_hour(writer, hour);
  seal(out, kSealKind);
}

Result<WindowState> decode_window_state(std::string_view bytes, uint32_t partition_count) {
  std::string_view body;
  if (!open_sealed(bytes, kSealKind, &body)) return corrupt("window state: checksum differs");
  ByteReader reader(body);
  const uint8_t version = reader.u8();
  if (version != kVersion && version != kVersionWithoutSlot)
    return corrupt("window state: format version " + std::to_string(version) + " is not known");
  WindowState state;
  state.partition_count = reader.u32();
  state.applied = Offset(read_number(reader));
  state.filling = HourIndex(read_number(reader));
  state.newest_play_ms = read_number(reader);
  if (version != kVersionWithoutSlot) {
    state.slot_ms = read_number(reader);
    state.log_time_ms = read_number(reader);
  }
  const uint64_t hour_count = reader.varint();
  bool sound = state.applied.value >= 0 && state.filling.value >= 0 && state.newest_play_ms >= 0 &&
               state.slot_ms >= 0 && state.log_time_ms >= 0;
  for (uint64_t i = 0; i < hour_count && reader.ok(); ++i) {
    state.hours.push_back(read_hour(reader, version));
    sound = sound && !negative(state.hours.back());
  }
  if (!reader.ok() || !reader.at_end() || !sound) return corrupt("window state: fields do not fit");
  if (state.partition_count != partition_count) {
    return invalid("the window store was made for " + std::to_string(state.partition_count) +
                   " partitions, the "
                   "configuration says " +
                   std::to_string(partition_count) +
                   ": set the old partition count again, or "
                   "remove the window stage's folder (it is read again from the log)");
  }
  return state;
}

}  // namespace bloomring
