// Reads the sources into the declared keys. Declares nothing: it is the part of config.h that knows the file, the
// environment and the flags.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "base/config/config.h"
#include "base/config/nearest.h"
#include "base/host/private_files.h"

extern char** environ;

namespace bloomring {
namespace {

constexpr std::string_view kPrefix = "BLOOMRING_";
constexpr std::string_view kFileSuffix = "_FILE";

Result<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (file) text << file.rdbuf();
  // A directory opens but does not read; an empty file reads nothing and is fine.
  if (!file || (file.peek(), file.bad())) return invalid(path + ": cannot be read: " + std::strerror(errno));
  return text.str();
}

// `a,b`, or YAML flow syntax where it starts like that.
Result<ConfigText> list_from_text(const std::string& text) {
  if (!text.empty() && text.front() == '[') return read_config_value(text);
  ConfigText list = ConfigText::list();
  std::stringstream rest(text);
  for (std::string item; std::getline(rest, item, ',');) {
    if (!item.empty()) list.items.push_back(item);
  }
  return list;
}

// BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD after the map's own variable: "sasl.password".
std::string entry_name(std::string_view suffix) {
  std::string name;
  for (const char c : suffix) name += c == '_' ? '.' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

// And back: "SASL_PASSWORD".
std::string variable_name(std::string_view entry) {
  std::string name;
  for (const char c : entry) name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string shown(const ConfigText& text) {
  if (text.kind == ConfigText::Kind::kNothing) return text.scalar.empty() ? "has no value" : text.scalar;
  return "is " + yaml_scalar(text);
}

// The name between ${ and } when there is one.
std::string variable_in(std::string_view text) {
  for (size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 2)) {
    const std::string_view name = text.substr(at + 2, text.find('}', at) - at - 2);
    const auto legal = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const bool closed = at + 2 + name.size() < text.size();
    if (closed && !name.empty() && std::all_of(name.begin(), name.end(), legal)) return std::string(name);
  }
  return "";
}

// The complaint about a value that holds ${NAME}, which is not replaced; empty when it holds none. `variable` is the
// environment variable that sets `what`.
std::string unreplaced(const std::string& what, const std::string& value, const std::string& variable) {
  const std::string name = variable_in(value);
  if (name.empty()) return "";
  return what + " holds ${" + name + "}, and variables are not replaced in values; write the value itself, or set " +
         variable + " in the environment";
}

std::string unreplaced(const ConfigKey& key, const ConfigText& text) {
  const std::string own = key.environment_variable();
  std::string found = unreplaced(key.name(), text.scalar, own);
  for (const std::string& item : text.items) {
    if (found.empty()) found = unreplaced(key.name(), item, own);
  }
  for (const auto& [entry, value] : text.entries) {
    // A password may contain ${NAME}; one that consists of nothing else is a mistake.
    const bool whole = value.starts_with("${") && value.find('}') + 1 == value.size();
    if (!found.empty() || (looks_secret(entry) && !whole)) continue;
    found = unreplaced(key.name() + " " + entry, value, own + "_" + variable_name(entry));
  }
  return found;
}

Status all_problems(const std::vector<std::string>& problems) {
  std::string message;
  for (const std::string& problem : problems) message += (message.empty() ? "" : "\n") + problem;
  return problems.empty() ? Status() : invalid(message);
}

}  // namespace

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.starts_with(kPrefix) && equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

Status Config::load(const ConfigSources& sources) {
  std::vector<std::string> problems;
  if (!sources.path.empty()) load_file(sources.path, problems);
  load_environment(sources.environment, problems);
  load_flags(sources.flags, problems);
  return all_problems(problems);
}

Status Config::follow(std::string_view key, const std::string& value, const std::string& origin) {
  ConfigKey* found = find(key);
  BLOOMRING_CHECK(found != nullptr, "no such key: " + std::string(key));
  std::vector<std::string> problems;
  assign(*found, ConfigText::of(value), origin, origin, problems);
  return all_problems(problems);
}

void Config::assign(ConfigKey& key, const ConfigText& text, const std::string& place, const std::string& origin,
                    std::vector<std::string>& problems) {
  std::set<std::string> names;
  for (const auto& entry : text.entries) {
    if (names.insert(entry.first).second) continue;
    problems.push_back(place + ": " + key.name() + " has " + entry.first + " twice");
    return;
  }
  if (const std::string variable = unreplaced(key, text); !variable.empty()) {
    problems.push_back(place + ": " + variable);
    return;
  }
  const std::string complaint = key.set(text);
  if (!complaint.empty()) {
    const bool hidden = key.secret_ || key.kind_ == ConfigKey::Kind::kMap;
    const bool plain = hidden && text.kind != ConfigText::Kind::kNothing;
    problems.push_back(place + ": " + key.name() + " " + (plain ? "has a value of the wrong kind" : shown(text)) +
                       "; it " + complaint);
    return;
  }
  key.origin_ = origin;
  for (const auto& entry : text.entries) key.entry_origins_[entry.first] = origin;
}

void Config::load_file(const std::string& path, std::vector<std::string>& problems) {
  Result<std::string> text = read_text_file(path);
  if (!text.ok()) return problems.push_back(text.status().message());
  auto entries = read_config_yaml(*text, path, [this](std::string_view name) { return is_section(name); });
  if (!entries.ok()) return problems.push_back(entries.status().message());
  std::map<std::string, int> lines;
  for (const ConfigEntry& entry : *entries) {
    const std::string place = path + ":" + std::to_string(entry.line);
    ConfigKey* key = find(entry.key);
    if (key == nullptr) {
      problems.push_back(place + ": " + unknown_key(entry.key));
    } else if (const auto [first, inserted] = lines.emplace(entry.key, entry.line); !inserted) {
      problems.push_back(place + ": " + entry.key + " is already set in line " + std::to_string(first->second));
    } else {
      assign(*key, entry.text, place, place, problems);
      if (const std::string secret = key->secret_in(entry.text); !secret.empty()) {
        warn_of_readers(path, secret, /*group_may=*/false);
      }
    }
  }
}

void Config::warn_of_readers(const std::string& path, const std::string& secret, bool group_may) {
  const std::string mode = readable_by_others(path, group_may);
  if (mode.empty()) return;
  warnings_.push_back(path + " holds " + secret + " and has " + mode +
                      ": other users of this host may read it; chmod " + (group_may ? "640" : "600") + " " + path);
}

void Config::load_environment(const std::map<std::string, std::string>& environment,
                              std::vector<std::string>& problems) {
  for (const auto& [variable, value] : environment) {
    if (!variable.ends_with(kFileSuffix) || !load_secret_file(variable, value, problems)) {
      load_variable(variable, value, problems);
      continue;
    }
    const std::string direct = variable.substr(0, variable.size() - kFileSuffix.size());
    if (environment.contains(direct)) {
      problems.push_back(direct + " and " + variable + " are both set; unset one of them");
    }
  }
}

bool Config::load_secret_file(const std::string& variable, const std::string& path,
                              std::vector<std::string>& problems) {
  const std::string named = variable.substr(0, variable.size() - kFileSuffix.size());
  for (ConfigKey& key : keys_) {
    const std::string own = key.environment_variable();
    ConfigText text;
    if (key.kind_ == ConfigKey::Kind::kMap && named.starts_with(own + "_")) {
      text.kind = ConfigText::Kind::kMap;
      text.entries.emplace_back(entry_name(std::string_view(named).substr(own.size() + 1)), "");
    } else if (named == own && key.kind_ == ConfigKey::Kind::kString) {
      text = ConfigText::of("");
    } else {
      continue;
    }
    const std::string secret = key.secret_in(text);
    if (secret.empty()) continue;
    const Result<std::string> value = read_secret(path);
    if (!value.ok()) {
      problems.push_back(variable + ": " + value.status().message());
      return true;
    }
    (text.entries.empty() ? text.scalar : text.entries.front().second) = *value;
    assign(key, text, variable, variable, problems);
    warn_of_readers(path, secret, /*group_may=*/true);
    return true;
  }
  return false;
}

void Config::load_variable(const std::string& variable, const std::string& value, std::vector<std::string>& problems) {
  for (ConfigKey& key : keys_) {
    const std::string own = key.environment_variable();
    if (variable == own) return assign_text(key, value, variable, problems);
    if (key.kind_ == ConfigKey::Kind::kMap && variable.starts_with(own + "_")) {
      ConfigText text;
      text.kind = ConfigText::Kind::kMap;
      text.entries.emplace_back(entry_name(std::string_view(variable).substr(own.size() + 1)), value);
      return assign(key, text, variable, variable, problems);
    }
  }
  for (const ConfigKey& key : keys_) {
    if (edit_distance(variable, key.environment_variable()) <= 2) {
      warnings_.push_back(variable + " is not a configuration variable; did you mean " + key.environment_variable() +
                          "?");
      return;
    }
  }
}

void Config::load_flags(const std::vector<ConfigFlag>& flags, std::vector<std::string>& problems) {
  for (const ConfigFlag& flag : flags) {
    if (ConfigKey* key = find(flag.key)) {
      assign_text(*key, flag.value, flag.origin, problems, /*is_flag=*/true);
      continue;
    }
    if (!load_entry(flag, problems)) problems.push_back(flag.origin + ": " + unknown_key(flag.key));
  }
}

bool Config::load_entry(const ConfigFlag& flag, std::vector<std::string>& problems) {
  for (ConfigKey& key : keys_) {
    if (key.kind_ != ConfigKey::Kind::kMap || !flag.key.starts_with(key.name() + ".")) continue;
    ConfigText text;
    text.kind = ConfigText::Kind::kMap;
    text.entries.emplace_back(flag.key.substr(key.name().size() + 1), flag.value);
    if (!refuse_secret(key, text, flag.origin, problems)) assign(key, text, flag.origin, flag.origin, problems);
    return true;
  }
  return false;
}

bool Config::refuse_secret(const ConfigKey& key, const ConfigText& text, const std::string& origin,
                           std::vector<std::string>& problems) const {
  const std::string secret = key.secret_in(text);
  if (secret.empty()) return false;
  std::string variable = key.environment_variable();
  for (const auto& [entry, value] : text.entries) {
    if (secret.ends_with(" " + entry)) variable += "_" + variable_name(entry);
  }
  problems.push_back(origin + ": " + secret +
                     " is a secret, and other users of this host see it in the list of processes; write it into the "
                     "configuration file, set " +
                     variable + ", or name a file that holds it in " + variable + std::string(kFileSuffix));
  return true;
}

void Config::assign_text(ConfigKey& key, const std::string& value, const std::string& origin,
                         std::vector<std::string>& problems, bool is_flag) {
  Result<ConfigText> text = ConfigText::of(value);
  if (key.kind_ == ConfigKey::Kind::kMap) text = read_config_value(value);
  if (key.kind_ == ConfigKey::Kind::kList) text = list_from_text(value);
  if (!text.ok()) return problems.push_back(origin + ": " + key.name() + ": " + text.status().message());
  if (is_flag && refuse_secret(key, *text, origin, problems)) return;
  assign(key, *text, origin, origin, problems);
}

}  // namespace bloomring
