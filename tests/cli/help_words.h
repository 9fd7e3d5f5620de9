// The commands and flags that the help of the program names, for tests of the pages that must have them all.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/run_binary.h"

namespace bloomring::testing {

inline std::vector<std::string> commands_in_help() {
  const std::string help = run({"--help"}).out;
  std::vector<std::string> commands;
  std::istringstream lines(help.substr(help.find("Subcommands:\n")));
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) {
    if (line.starts_with("  ") && !line.starts_with("   ")) commands.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return commands;
}

// With their dashes.
inline std::vector<std::string> flags_in_help(const std::string& command) {
  const std::string help = run({command, "--help"}).out;
  std::vector<std::string> flags;
  for (size_t at = help.find("\n  --"); at != std::string::npos; at = help.find("\n  --", at + 1)) {
    flags.push_back(help.substr(at + 3, help.find_first_of(" \n", at + 4) - at - 3));
  }
  return flags;
}

}  // namespace bloomring::testing
