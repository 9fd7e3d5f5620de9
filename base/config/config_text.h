// Configuration values as they were written, before their type is known, and the YAML reader that finds them. The only
// place that knows the YAML library. Used by base/config/config.cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bloomring {

// A scalar, a list of scalars, a map of scalars, or nothing (a key without a value).
struct ConfigText {
  enum class Kind { kNothing, kScalar, kList, kMap };
  Kind kind = Kind::kNothing;
  bool quoted = false;  // A scalar in quotation marks is a string, never a number.
  std::string scalar;
  std::vector<std::string> items;
  std::vector<std::pair<std::string, std::string>> entries;

  static ConfigText of(std::string scalar);
  static ConfigText list(std::vector<std::string> items = {});
};

// A key of a file with its full name ("ring.slots") and its line (from 1).
struct ConfigEntry {
  std::string key;
  int line = 0;
  ConfigText text;
};

// Entries of a YAML document in the order of the file; duplicates included, for the caller to refuse. A map whose full
// name satisfies `is_section` is a section, and its entries are keys; any other map is a value. kInvalid, with the
// line, for a text that is not YAML, not a map or more than one document, and for a value nested deeper than a map of
// scalars.
Result<std::vector<ConfigEntry>> read_config_yaml(const std::string& text, std::string_view file,
                                                  const std::function<bool(std::string_view)>& is_section);

// One value in YAML (or JSON) flow syntax, as the environment and flags carry lists and maps.
Result<ConfigText> read_config_value(const std::string& text);

// A scalar as YAML text on one line, quoted where it would otherwise be read as another value.
std::string yaml_scalar(const ConfigText& text);

}  // namespace bloomring
