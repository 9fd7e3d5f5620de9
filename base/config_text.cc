#include "base/config_text.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace bloomring {
namespace {

constexpr const char* kTooDeep = "is nested too deep";
constexpr const char* kOpenQuote = "a quote is opened here and not closed in this line; close it";

int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

std::string at_line(std::string_view file, int line) { return std::string(file) + ":" + std::to_string(line) + ": "; }

// Nothing when the node is nested deeper than a value may be.
std::optional<ConfigText> text_of(const YAML::Node& node) {
  ConfigText text;
  if (node.IsScalar()) {
    text = ConfigText::of(node.Scalar());
    text.quoted = node.Tag() == "!";  // yaml-cpp's mark of a quoted scalar.
  } else if (node.IsSequence()) {
    text.kind = ConfigText::Kind::kList;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar()) return std::nullopt;
      text.items.push_back(item.Scalar());
    }
  } else if (node.IsMap()) {
    text.kind = ConfigText::Kind::kMap;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) return std::nullopt;
      text.entries.emplace_back(entry.first.Scalar(), entry.second.Scalar());
    }
  }
  return text;
}

class Reader {
 public:
  Reader(std::string_view file, const std::function<bool(std::string_view)>& is_section)
      : file_(file), is_section_(is_section) {}

  Status read(const YAML::Node& map, const std::string& prefix) {
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return invalid(at_line(file_, line_of(entry.first)) + "a key must be a word");
      BLOOMRING_TRY(read_entry(prefix + entry.first.Scalar(), entry.first, entry.second));
    }
    return {};
  }

  std::vector<ConfigEntry> entries;

 private:
  Status read_entry(const std::string& key, const YAML::Node& name, const YAML::Node& value) {
    if (is_section_(key) && (value.IsMap() || value.IsNull())) return read(value, key + ".");
    std::optional<ConfigText> text = text_of(value);
    if (!text) {
      // An unknown key is the better message, so let the caller see it; the caller refuses a value of a wrong kind.
      text = ConfigText();
      text->scalar = kTooDeep;
    }
    entries.push_back({key, line_of(name), std::move(*text)});
    return {};
  }

  std::string_view file_;
  const std::function<bool(std::string_view)>& is_section_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

bool says_nothing(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string::npos || line[first] == '#';
}

// Where a quote is open that begins a value; from 0.
struct OpenQuote {
  char mark = 0;  // 0: none is open.
  int line = 0;
};

// Takes up one more line. A quote opens only where a value or key begins; doubled and escaped ones do not close.
void read_quotes(const std::string& line, int number, OpenQuote& open) {
  bool begins = true;  // What comes next is the first of a value.
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

// The line whose quote is open behind the first `count` lines.
std::optional<int> open_quote(const std::vector<std::string>& lines, int count) {
  OpenQuote open;
  for (int at = 0; at < count; ++at) read_quotes(lines[static_cast<size_t>(at)], at, open);
  return open.mark == 0 ? std::nullopt : std::optional(open.line);
}

// A quote that the whole text does not close: to the library it closes at the end, and swallows all the keys between.
// Text in a block scalar may hold any quote.
std::optional<int> unclosed_quote(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  const auto begins_block = [](const std::string& line) {
    return line.find(": |") != std::string::npos || line.find(": >") != std::string::npos;
  };
  if (std::any_of(lines.begin(), lines.end(), begins_block)) return std::nullopt;
  return open_quote(lines, static_cast<int>(lines.size()));
}

// The line with the mistake, from 0. The library notices some of them later: a key without a colon at the next one's,
// and a bracket that is never closed where something else begins, as a quote.
int wrong_line(const std::string& text, const YAML::Exception& error) {
  const std::vector<std::string> lines = lines_of(text);
  const int line = std::max(0, std::min(error.mark.line, static_cast<int>(lines.size()) - 1));
  if (const auto quote = lines.empty() ? std::nullopt : open_quote(lines, line)) return *quote;
  if (error.msg.find("flow not found") != std::string::npos) {
    int open = 0;  // From the line to the place of the error.
    for (int at = line; at >= 0 && !lines.empty(); --at) {
      const std::string& one = lines[static_cast<size_t>(at)];
      open += static_cast<int>(std::count(one.begin(), one.end(), '[') + std::count(one.begin(), one.end(), '{'));
      open -= static_cast<int>(std::count(one.begin(), one.end(), ']') + std::count(one.begin(), one.end(), '}'));
      if (open > 0) return at;
    }
  }
  if (error.msg.find("illegal map value") == std::string::npos) return line;
  int before = line - 1;
  while (before >= 0 && says_nothing(lines[static_cast<size_t>(before)])) --before;
  const bool no_colon = before >= 0 && lines[static_cast<size_t>(before)].find(':') == std::string::npos;
  return no_colon ? before : line;
}

// The library's words, or those that help where a tab indents the line: to YAML it is no blank.
std::string why(const std::string& text, const YAML::Exception& error) {
  const std::vector<std::string> all = lines_of(text);
  if (!all.empty() && open_quote(all, std::clamp(error.mark.line, 0, static_cast<int>(all.size()) - 1)))
    return kOpenQuote;
  std::istringstream lines(text);
  std::string line;
  for (int number = 0; number <= error.mark.line && std::getline(lines, line);) ++number;
  const size_t tab = line.find('\t');
  if (tab == std::string::npos || line.find_first_not_of(" \t") < tab) {
    return error.msg + "; write `key: value`, and blanks before keys of a section";
  }
  return "a tab indents this line; write blanks instead";
}

}  // namespace

ConfigText ConfigText::of(std::string scalar) {
  ConfigText text;
  text.kind = Kind::kScalar;
  text.scalar = std::move(scalar);
  return text;
}

ConfigText ConfigText::list(std::vector<std::string> items) {
  ConfigText text;
  text.kind = Kind::kList;
  text.items = std::move(items);
  return text;
}

Result<std::vector<ConfigEntry>> read_config_yaml(const std::string& text, std::string_view file,
                                                  const std::function<bool(std::string_view)>& is_section) {
  if (const auto quote = unclosed_quote(text))
    return invalid(at_line(file, *quote + 1) + "not YAML: " + kOpenQuote);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1)
      return invalid(at_line(file, line_of(documents[1])) + "a second YAML document; there must be one");
    Reader reader(file, is_section);
    if (documents.empty() || documents[0].IsNull()) return std::move(reader.entries);
    if (!documents[0].IsMap())
      return invalid(at_line(file, line_of(documents[0])) + "the file must be a YAML map of sections");
    BLOOMRING_TRY(reader.read(documents[0], ""));
    return std::move(reader.entries);
  } catch (const YAML::Exception& error) {
    return invalid(at_line(file, wrong_line(text, error) + 1) + "not YAML: " + why(text, error));
  }
}

Result<ConfigText> read_config_value(const std::string& text) {
  try {
    std::optional<ConfigText> value = text_of(YAML::Load(text));
    if (!value) return invalid(kTooDeep);
    return std::move(*value);
  } catch (const YAML::Exception& error) {
    return invalid("not YAML: " + error.msg);
  }
}

std::string yaml_scalar(const ConfigText& text) {
  YAML::Emitter out;
  switch (text.kind) {
    case ConfigText::Kind::kNothing: out << YAML::Null; break;
    case ConfigText::Kind::kScalar: out << text.scalar; break;
    case ConfigText::Kind::kList: out << YAML::Flow << text.items; break;
    case ConfigText::Kind::kMap:
      out << YAML::Flow << YAML::BeginMap;
      for (const auto& [name, value] : text.entries) out << YAML::Key << name << YAML::Value << value;
      out << YAML::EndMap;
      break;
  }
  return out.c_str();
}

}  // namespace bloomring
