#include "base/config/config_text.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/config/yaml_mistake.h"

namespace bloomring {
namespace {

constexpr const char* kTooDeep = "is nested too deep";

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

// Where the root of each document begins.
class RootMarks final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override { at_root_ = true; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { note(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { note(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override { note(mark); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    note(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    note(mark);
  }
  void OnMapEnd() override {}

  std::vector<YAML::Mark> marks;

 private:
  void note(const YAML::Mark& mark) {
    if (std::exchange(at_root_, false)) marks.push_back(mark);
  }
  bool at_root_ = false;
};

// The roots of the first two documents. It looks no further: where a text begins with a comma, the library finds one
// empty document after the other there and never comes to an end.
std::vector<YAML::Mark> first_roots(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  RootMarks roots;
  while (roots.marks.size() < 2 && parser.HandleNextDocument(roots)) {
  }
  return std::move(roots.marks);
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
  const auto not_yaml = [&](const YamlMistake& mistake) {
    return invalid(at_line(file, mistake.line) + "not YAML: " + mistake.why);
  };
  if (const auto quote = unclosed_quote(text)) return not_yaml(*quote);
  try {
    const std::vector<YAML::Mark> roots = first_roots(text);
    if (roots.size() > 1 && roots[1].pos == roots[0].pos)
      return not_yaml({roots[0].line + 1, "no value begins like this; write `key: value`"});
    if (roots.size() > 1)
      return invalid(at_line(file, roots[1].line + 1) + "a second YAML document; there must be one");
    const YAML::Node document = YAML::Load(text);
    Reader reader(file, is_section);
    if (document.IsNull()) return std::move(reader.entries);
    if (!document.IsMap())
      return invalid(at_line(file, line_of(document)) + "the file must be a YAML map of sections");
    BLOOMRING_TRY(reader.read(document, ""));
    return std::move(reader.entries);
  } catch (const YAML::Exception& error) {
    return not_yaml(mistake_of(text, error));
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
    case ConfigText::Kind::kScalar:
      // Plain, these would end the document or begin one.
      if (text.scalar.starts_with("...") || text.scalar.starts_with("---")) out << YAML::DoubleQuoted;
      out << text.scalar;
      break;
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
