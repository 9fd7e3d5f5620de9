// Bytes of others as text that a terminal can show: on one line, and without anything that a terminal obeys.
//
// Printable UTF-8 stays as it is. Everything else becomes \n, \r, \t or \xNN for each byte: control characters (an
// escape sequence could rewrite the screen), characters that turn the direction of the text or are invisible, and bytes
// that are not UTF-8. A backslash becomes two, so the bytes can be told from the text.
// Threading: pure functions.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bloomring::cli {

std::string safe_text(std::string_view bytes);

// The first bytes of the text, at most this many, without half a character at the end.
std::string_view first_bytes(std::string_view text, size_t bytes_max);

bool is_utf8(std::string_view bytes);

// All strings of the JSON, with safe_text.
nlohmann::ordered_json safe_json(const nlohmann::ordered_json& json);

}  // namespace bloomring::cli
