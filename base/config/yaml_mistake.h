// Finds the line of a YAML mistake, and says why in words that help a person to correct it. The YAML library names the
// line at which it noticed; the mistake is often on an earlier line.
#pragma once

#include <optional>
#include <string>

namespace YAML {
class Exception;
}

namespace bloomring {

struct YamlMistake {
  int line = 0;  // From 1.
  std::string why;
};

// A quote that the text opens and never closes. The library closes it at the end of the text and takes all keys between
// as part of it. Finds nothing in a text with a block scalar, which may hold any quote.
std::optional<YamlMistake> unclosed_quote(const std::string& text);

// The mistake behind the library's `error` about this text.
YamlMistake mistake_of(const std::string& text, const YAML::Exception& error);

}  // namespace bloomring
