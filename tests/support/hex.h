// Bytes as a failed comparison shows them: in lower case, without spaces.
#pragma once

#include <string>
#include <string_view>

namespace bloomring {

inline std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    text.push_back(kDigits[static_cast<unsigned char>(c) & 15]);
  }
  return text;
}

}  // namespace bloomring
