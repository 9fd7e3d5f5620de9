#include "base/config/config.h"

#include <algorithm>
#include <sstream>

#include "base/config/nearest.h"

namespace bloomring {
namespace {

std::string last_part(std::string_view key) { return std::string(key.substr(key.rfind('.') + 1)); }

}  // namespace

void Config::section(std::string name, std::string sentence) {
  sections_.push_back({std::move(name), std::move(sentence)});
}

ConfigKey& Config::add(std::string name, ConfigKey::Kind kind) {
  const std::string section = name.find('.') == std::string::npos ? "" : name.substr(0, name.rfind('.'));
  BLOOMRING_CHECK(find(name) == nullptr, "declared twice: " + name);
  BLOOMRING_CHECK(!sections_.empty() && sections_.back().name == section, "declared outside its section: " + name);
  ConfigKey& key = keys_.emplace_back();
  key.name_ = std::move(name);
  key.kind_ = kind;
  return key;
}

ConfigKey& Config::real(std::string name, double* target) {
  ConfigKey& key = add(std::move(name), ConfigKey::Kind::kReal);
  key.real_low_ = std::numeric_limits<double>::lowest();
  key.real_high_ = std::numeric_limits<double>::max();
  key.set_real_ = [target](double value) { *target = value; };
  key.get_ = [target] {
    std::ostringstream text;
    text << *target;
    return ConfigText::of(text.str());
  };
  key.default_ = key.get_();
  return key;
}

ConfigKey& Config::boolean(std::string name, bool* target) {
  ConfigKey& key = add(std::move(name), ConfigKey::Kind::kBoolean);
  key.choices_ = {"true", "false"};
  key.set_text_ = [target](const std::string& text) { *target = text == "true"; };
  key.get_ = [target] { return ConfigText::of(*target ? "true" : "false"); };
  key.default_ = key.get_();
  return key;
}

ConfigKey& Config::string(std::string name, std::string* target) {
  ConfigKey& key = add(std::move(name), ConfigKey::Kind::kString);
  key.set_text_ = [target](const std::string& text) { *target = text; };
  key.get_ = [target] { return ConfigText::of(*target); };
  key.default_ = key.get_();
  return key;
}

ConfigKey& Config::list(std::string name, std::vector<std::string>* target) {
  ConfigKey& key = add(std::move(name), ConfigKey::Kind::kList);
  key.set_items_ = [target](const std::vector<std::string>& items) { *target = items; };
  key.get_ = [target] { return ConfigText::list(*target); };
  key.default_ = key.get_();
  return key;
}

ConfigKey& Config::map(std::string name, std::map<std::string, std::string>* target) {
  ConfigKey& key = add(std::move(name), ConfigKey::Kind::kMap);
  key.map_ = target;
  key.get_ = [target] {
    ConfigText text;
    text.kind = ConfigText::Kind::kMap;
    text.entries.assign(target->begin(), target->end());
    return text;
  };
  key.default_ = key.get_();
  return key;
}

ConfigKey* Config::find(std::string_view name) {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const ConfigKey& key) { return key.name() == name; });
  return found == keys_.end() ? nullptr : &*found;
}

bool Config::is_section(std::string_view name) const {
  return !name.empty() &&
         std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) { return section.name == name; });
}

const std::string& Config::origin(std::string_view key) const {
  const ConfigKey* found = const_cast<Config*>(this)->find(key);
  BLOOMRING_CHECK(found != nullptr, "no such key: " + std::string(key));
  return found->origin();
}

bool Config::asks(std::string_view key) const {
  const ConfigKey* found = const_cast<Config*>(this)->find(key);
  return found != nullptr && found->is_word_;
}

std::string Config::value_text(std::string_view key) const {
  const ConfigKey* found = const_cast<Config*>(this)->find(key);
  BLOOMRING_CHECK(found != nullptr, "no such key: " + std::string(key));
  return found->secret_ ? "***" : yaml_scalar(found->get_());
}

std::string Config::nearest_key(std::string_view name) const {
  std::vector<std::string> known, last_parts;
  for (const ConfigKey& key : keys_) known.push_back(key.name());
  for (const Section& section : sections_) {
    if (!section.name.empty()) known.push_back(section.name);
  }
  const std::string nearest = nearest_name(name, known);
  if (!nearest.empty()) return nearest;
  // The right word in the wrong section: `slots` for `ring.slots`.
  for (const std::string& key : known) last_parts.push_back(last_part(key));
  const std::string part = nearest_name(last_part(name), last_parts);
  if (part.empty()) return "";
  return known[static_cast<size_t>(std::find(last_parts.begin(), last_parts.end(), part) - last_parts.begin())];
}

std::string Config::unknown_key(const std::string& name) const {
  if (is_section(name)) return name + " is a section; it must be a map of keys";
  const std::string nearest = nearest_key(name);
  const std::string hint =
      nearest.empty() ? "`bloomring reference config` lists the keys" : "did you mean " + nearest + "?";
  return "unknown key " + name + "; " + hint;
}

}  // namespace bloomring
