// Lists of words, lines of text, and bytes, as messages show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

// The lines of the text, without line ends.
std::vector<std::string> lines_of(const std::string& text);

// The text on one line: control characters become spaces, and line breaks at its end, which libraries write, are left
// out.
std::string one_line(std::string_view text);

// Two digits for each byte: "00ff".
std::string hex(std::string_view bytes);

// `Words` is any range of strings.
template <typename Words>
std::string joined(const Words& words, std::string_view separator = ", ") {
  std::string text;
  for (bool first = true; const auto& word : words) {
    if (!first) text += separator;
    text += word;
    first = false;
  }
  return text;
}

// An empty name is shown as "".
template <typename Names>
std::string joined_names(const Names& names) {
  std::vector<std::string> shown;
  for (const auto& name : names) shown.emplace_back(name.empty() ? "\"\"" : name);
  return joined(shown);
}

}  // namespace bloomring
