#include "base/config/yaml_mistake.h"

#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <vector>

#include "base/words.h"

namespace bloomring {
namespace {

using Lines = std::vector<std::string>;

bool says_nothing(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string::npos || line[first] == '#';
}

// The open quote that begins a value or key, and its line.
struct OpenQuote {
  char mark = 0;  // 0: none is open.
  size_t line = 0;
};

// Reads one more line. A quote opens only where a value or key begins; doubled and escaped ones do not close.
void read_quotes(const std::string& line, size_t number, OpenQuote& open) {
  bool begins = true;  // A value or key may begin at the next character.
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (open.mark != 0) {
      const bool doubled = c == '\'' && open.mark == c && i + 1 < line.size() && line[i + 1] == c;
      if (doubled || (c == '\\' && open.mark == '"')) {
        ++i;
      } else if (c == open.mark) {
        open.mark = 0;
        begins = false;
      }
    } else if (begins && (c == '"' || c == '\'')) {
      open = {c, number};
    } else if (c == '#' && (i == 0 || line[i - 1] == ' ')) {
      return;
    } else if (c != ' ') {
      begins = c == ':' || c == '-' || c == ',' || c == '[' || c == '{';
    }
  }
}

// The quote that is still open after the first `count` lines.
std::optional<YamlMistake> open_quote(const Lines& lines, size_t count) {
  OpenQuote open;
  for (size_t at = 0; at < count; ++at) read_quotes(lines[at], at, open);
  if (open.mark == 0) return std::nullopt;
  return YamlMistake{static_cast<int>(open.line) + 1, "a quote is opened here and not closed in this line; close it"};
}

// The line, from 0, with the bracket that is still open at `line`.
std::optional<size_t> open_bracket(const Lines& lines, size_t line) {
  int64_t open = 0;  // From the line to the place of the error.
  for (size_t at = line + 1; at-- > 0;) {
    const std::string& one = lines[at];
    open += std::count(one.begin(), one.end(), '[') + std::count(one.begin(), one.end(), '{');
    open -= std::count(one.begin(), one.end(), ']') + std::count(one.begin(), one.end(), '}');
    if (open > 0) return at;
  }
  return std::nullopt;
}

// The nearest line before `line` that is not empty or a comment, if it has no colon. Lines count from 0.
std::optional<size_t> lacks_colon(const Lines& lines, size_t line) {
  while (line > 0 && says_nothing(lines[line - 1])) --line;
  if (line == 0 || lines[line - 1].find(':') != std::string::npos) return std::nullopt;
  return line - 1;
}

// The library notices two mistakes late: a key without a colon at the line of the next key, and an unclosed bracket at
// the line of the next value.
size_t wrong_line(const Lines& lines, size_t line, const std::string& library) {
  std::optional<size_t> before;
  if (library.find("flow not found") != std::string::npos) before = open_bracket(lines, line);
  if (library.find("illegal map value") != std::string::npos) before = lacks_colon(lines, line);
  return before.value_or(line);
}

// The library's words, or better ones where a tab indents the line: YAML allows only spaces.
std::string why(const std::string& line, const std::string& library) {
  const size_t tab = line.find('\t');
  if (tab == std::string::npos || line.find_first_not_of(" \t") < tab)
    return library + "; write `key: value`, and blanks before keys of a section";
  return "a tab indents this line; write blanks instead";
}

}  // namespace

std::optional<YamlMistake> unclosed_quote(const std::string& text) {
  const Lines lines = lines_of(text);
  const auto begins_block = [](const std::string& line) {
    return line.find(": |") != std::string::npos || line.find(": >") != std::string::npos;
  };
  if (std::any_of(lines.begin(), lines.end(), begins_block)) return std::nullopt;
  return open_quote(lines, lines.size());
}

YamlMistake mistake_of(const std::string& text, const YAML::Exception& error) {
  Lines lines = lines_of(text);
  if (lines.empty()) lines.emplace_back();
  const auto line = static_cast<size_t>(std::clamp(error.mark.line, 0, static_cast<int>(lines.size()) - 1));
  if (auto quote = open_quote(lines, line)) return std::move(*quote);
  return {static_cast<int>(wrong_line(lines, line, error.msg)) + 1, why(lines[line], error.msg)};
}

}  // namespace bloomring
