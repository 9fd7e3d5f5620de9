// Formats a result for people: turns the JSON of `--output json` into the text of `--output text`.
//
//   {"user":"u1","complete":true,"items":[{"item":"v1","seen":true,"reason":"recent"},{"item":"v2","seen":false}]}
//
//   user: u1
//   complete: yes
//   items:
//     item  seen  reason
//     v1    yes   recent
//     v2    no    -
//
// Objects become lines, lists of objects tables, booleans yes or no, and missing values "-" or "none". Times in Unix
// milliseconds ("expires_ms") become RFC 3339 in UTC; durations stay numbers.
// Threading: pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bloomring {

// Ends with a newline.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace bloomring
