#include "schemas/window/window_key.h"

#include "base/result.h"

namespace bloomring {

namespace {

constexpr char kStateTag = 0;
constexpr char kBlockTag = 1;
constexpr size_t kHourBytes = 8;
constexpr size_t kPlaceBytes = kHourBytes + 8;
constexpr size_t kBlockKeyBytes = kPlaceBytes + 1;
constexpr size_t kStateKeyBytes = kPlaceBytes + 1 + 8;

void append_u64_be(std::string& out, int64_t value) {
  BLOOMRING_CHECK(value >= 0, "negative hour or offset");
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

int64_t u64_be(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(value);
}

}  // namespace

std::string window_hour_begin(HourIndex hour) {
  std::string key;
  append_u64_be(key, hour.value);
  return key;
}

std::string window_place(HourIndex hour, Offset offset) {
  std::string place = window_hour_begin(hour);
  append_u64_be(place, offset.value);
  return place;
}

std::string window_block_key(HourIndex hour, Offset offset) { return window_place(hour, offset) + kBlockTag; }

std::optional<Offset> parse_window_block_key(std::string_view key) {
  if (key.size() != kBlockKeyBytes) return std::nullopt;
  return Offset(u64_be(key.substr(kHourBytes)));
}

std::string window_state_key(std::string_view place, int64_t saves) {
  std::string key = std::string(place) + kStateTag;
  append_u64_be(key, saves);
  return key;
}

std::optional<WindowStateKey> parse_window_state_key(std::string_view key) {
  if (key.size() != kStateKeyBytes) return std::nullopt;
  return WindowStateKey{key.substr(0, kPlaceBytes), u64_be(key.substr(kPlaceBytes + 1))};
}

}  // namespace bloomring
