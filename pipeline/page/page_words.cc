#include "pipeline/page/page_words.h"

#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace bloomring {

namespace {

std::string fixed(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string in_utc(const char* format, int64_t ms) {
  return absl::FormatTime(format, absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

// The bytes of the UTF-8 character that begins the text; 0 for bytes that are none, or a control character.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x80) return byte(0) < 0x20 || byte(0) == 0x7f ? 0 : 1;
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool c1 = byte(0) == 0xc2 && byte(1) < 0xa0, overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) ||
                                                                  (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool surrogate = byte(0) == 0xed && byte(1) > 0x9f, beyond = byte(0) == 0xf4 && byte(1) > 0x8f;
  return c1 || overlong || surrogate || beyond ? 0 : bytes;
}

}  // namespace

std::string count_text(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t at = 0; at < digits.size(); ++at) {
    const bool behind_digit = at > 0 && digits[at - 1] != '-';
    if (behind_digit && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

std::string count_text(const std::optional<int64_t>& number) { return number ? count_text(*number) : "-"; }

std::string rate_text(const std::optional<double>& a_second) {
  if (!a_second) return "-";
  if (*a_second == 0) return "0";
  if (*a_second >= 100) return count_text(std::llround(*a_second));
  return fixed(*a_second, *a_second >= 10 ? 1 : 2);
}

std::string seconds_text(double seconds) {
  if (seconds >= 10) return count_text(std::llround(seconds));
  return seconds == 0 ? "0" : fixed(seconds, 1);
}

std::string delay_text(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  if (*seconds >= 0.9995) return seconds_text(*seconds) + " s";
  const double ms = *seconds * 1e3;
  return fixed(ms, ms >= 10 ? 0 : 1) + " ms";
}

std::string duration_text(int64_t ms) {
  const int64_t seconds = std::max<int64_t>(0, ms) / 1000, minutes = seconds / 60, hours = minutes / 60;
  const auto both = [](int64_t large, const char* unit, int64_t small, const char* smaller) {
    return std::to_string(large) + unit + (small > 0 ? " " + std::to_string(small) + smaller : "");
  };
  if (minutes == 0) return std::to_string(seconds) + " s";
  if (hours == 0) return std::to_string(minutes) + " min";
  if (hours < 48) return both(hours, " h", minutes % 60, " min");
  return both(hours / 24, " d", hours % 24, " h");
}

std::string size_text(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fixed(value, unit == 0 ? 0 : 1) + kUnits[unit];
}

std::string time_text(int64_t ms) { return in_utc("%Y-%m-%d %H:%M:%SZ", ms); }

std::string hour_text(int64_t ms) { return in_utc(ms % 60'000 == 0 ? "%m-%d %H:%MZ" : "%m-%d %H:%M:%SZ", ms); }

char letter_of(SlotState state) {
  switch (state) {
    case SlotState::kFree: return '-';
    case SlotState::kFilling: return 'F';
    case SlotState::kSealed: return 'S';
    case SlotState::kDraining: return 'D';
    case SlotState::kMerged: return 'M';
  }
  return '?';
}

std::string clean(std::string_view text, size_t bytes) {
  constexpr std::string_view kEllipsis = "…", kReplacement = "\xef\xbf\xbd";
  std::string out;
  size_t kept = 0;  // Bytes of `out` that leave room for the ellipsis.
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    const bool space = size == 0 && static_cast<unsigned char>(text[0]) <= 0x20;
    const std::string_view piece = size > 0 ? text.substr(0, size) : space ? " " : kReplacement;
    if (out.size() + piece.size() > bytes) return out.substr(0, kept).append(kEllipsis);
    out.append(piece);
    if (out.size() + kEllipsis.size() <= bytes) kept = out.size();
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

}  // namespace bloomring
