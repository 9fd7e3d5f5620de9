#include <algorithm>
#include <sstream>

#include "base/config/config.h"

namespace bloomring {
namespace {

constexpr const char* kHidden = "\"***\"";

// The key's name without its section.
std::string_view own_name(const std::string& name) { return std::string_view(name).substr(name.rfind('.') + 1); }

bool belongs(const std::string& key, const std::string& section) {
  const size_t dot = key.rfind('.');
  return dot == std::string::npos ? section.empty() : key.substr(0, dot) == section;
}

std::string without_article(const std::string& type) {
  for (const std::string_view article : {"an ", "a "}) {
    if (type.starts_with(article)) return type.substr(article.size());
  }
  return type;
}

}  // namespace

std::string Config::effective_yaml() const {
  std::ostringstream out;
  for (const Section& section : sections_) {
    if (!section.name.empty()) out << section.name << ":\n";
    const char* indent = section.name.empty() ? "" : "  ";
    for (const ConfigKey& key : keys_) {
      if (!belongs(key.name(), section.name)) continue;
      const ConfigText value = key.is_word_ ? ConfigText::of(key.word_) : key.get_();
      if (value.kind == ConfigText::Kind::kMap && !value.entries.empty()) {
        out << indent << own_name(key.name()) << ":\n";
        for (const auto& [name, text] : value.entries) {
          const auto origin = key.entry_origins_.find(name);
          out << indent << "  " << yaml_scalar(ConfigText::of(name)) << ": "
              << (key.hides(name) ? kHidden : yaml_scalar(ConfigText::of(text))) << "  # "
              << (origin == key.entry_origins_.end() ? "default" : origin->second) << "\n";
        }
        continue;
      }
      const bool hidden = key.secret_ && !value.scalar.empty();
      out << indent << own_name(key.name()) << ": " << (hidden ? kHidden : yaml_scalar(value)) << "  # " << key.origin()
          << "\n";
    }
  }
  return out.str();
}

std::string Config::reference_markdown() const {
  std::ostringstream out;
  for (const Section& section : sections_) {
    out << "## " << (section.name.empty() ? "Without a section" : section.name) << "\n\n" << section.sentence << "\n\n";
    out << "| key | value | default | environment variable | since | what it does |\n|---|---|---|---|---|---|\n";
    for (const ConfigKey& key : keys_) {
      if (!belongs(key.name(), section.name)) continue;
      out << "| `" << key.name() << "` | " << without_article(key.type_text())
          << (key.unit_.empty() ? "" : ", " + key.unit_) << " | `" << yaml_scalar(key.default_) << "` | `"
          << key.environment_variable() << "` | " << key.since_ << " | " << key.doc_ << " |\n";
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace bloomring
