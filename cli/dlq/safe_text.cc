#include "cli/dlq/safe_text.h"

#include <cstdint>

#include "base/words.h"

namespace bloomring::cli {

namespace {

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text does not begin with a character.
};

// Strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  uint32_t code = lead & (0xffu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, bytes};
}

bool is_printable(uint32_t code) {
  struct Span {
    uint32_t first, last;
  };
  // C0; DEL and C1; soft hyphen; zero width, direction, separators of lines; BOM; annotations; tags.
  constexpr Span kNot[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                           {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
                           {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
  for (const Span& span : kNot) {
    if (code >= span.first && code <= span.last) return false;
  }
  return true;
}

void append_escaped(std::string& text, std::string_view bytes) {
  for (const char c : bytes) {
    switch (c) {
      case '\n': text += "\\n"; break;
      case '\r': text += "\\r"; break;
      case '\t': text += "\\t"; break;
      default: text += "\\x" + hex(std::string_view(&c, 1)); break;
    }
  }
}

}  // namespace

std::string safe_text(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Character next = first_character(bytes);
    const std::string_view own = bytes.substr(0, next.bytes == 0 ? 1 : next.bytes);
    bytes.remove_prefix(own.size());
    if (own == "\\") {
      text += "\\\\";
    } else if (next.bytes > 0 && is_printable(next.code)) {
      text += own;
    } else {
      append_escaped(text, own);
    }
  }
  return text;
}

std::string_view first_bytes(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  for (size_t back = 0; back < 4 && back < bytes_max; ++back) {
    const size_t end = bytes_max - back;
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80) return text.substr(0, end);
  }
  return text.substr(0, bytes_max);  // No UTF-8.
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Character next = first_character(bytes);
    if (next.bytes == 0) return false;
    bytes.remove_prefix(next.bytes);
  }
  return true;
}

nlohmann::ordered_json safe_json(const nlohmann::ordered_json& json) {
  if (json.is_string()) return safe_text(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  nlohmann::ordered_json safe = json.is_array() ? nlohmann::ordered_json::array() : nlohmann::ordered_json::object();
  for (const auto& [name, value] : json.items()) {
    if (json.is_array()) {
      safe.push_back(safe_json(value));
    } else {
      safe[safe_text(name)] = safe_json(value);
    }
  }
  return safe;
}

}  // namespace bloomring::cli
