// Where a text that is no YAML is wrong, and why, in words that help a person to mend it. The library names the line at
// which it noticed; the mistake often stands before it.
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

// A quote that the text opens and never closes. The library closes it at the end of the text, and swallows all keys
// between. Nothing is found in a text with a block scalar, which may hold any quote.
std::optional<YamlMistake> unclosed_quote(const std::string& text);

// `error` is the library's, about this text.
YamlMistake mistake_of(const std::string& text, const YAML::Exception& error);

}  // namespace bloomring
