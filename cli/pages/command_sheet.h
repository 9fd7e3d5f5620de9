// Declared commands and flags as plain data, from which completions, the manual page and the reference page are made.
// Threading: pure functions.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace bloomring::cli {

struct FlagSheet {
  std::string name;                // "--config"; of an argument without a flag its name: "items".
  std::string value;               // "FILE", "HOST:PORT", "json|text"; empty: the flag takes none.
  std::vector<std::string> words;  // The closed list of values; empty: any value.
  std::string doc;
  bool required = false;

  bool is_argument() const { return !name.starts_with("--"); }
};

struct CommandSheet {
  std::string name;  // "run"; of the program "bloomring".
  std::string doc;
  std::string footer;  // Examples and exit codes.
  std::vector<FlagSheet> flags;
};

// The program itself first, then its commands in the order of --help.
std::vector<CommandSheet> read_sheets(const CLI::App& app);

}  // namespace bloomring::cli
