// A result as people read it: what `--output text` prints of what `--output json` has.
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
// Objects are lines, lists of objects are tables, truth is yes or no, nothing is "-" or "none". Times in Unix
// milliseconds ("expires_ms") are written as RFC 3339 in UTC; shorter spans stay numbers. Threading: pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bloomring {

// Ends with a line's end.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace bloomring
