// Completion of commands, flags and values for shells: a script that the shell reads.
// Guarantees: values of a closed list complete to its words, FILE and DIR to paths, other values to nothing.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/pages/command_sheet.h"

namespace bloomring::cli {

enum class Shell : uint8_t { kBash, kFish, kZsh };

std::string completion_for(Shell shell, const std::vector<CommandSheet>& sheets);

}  // namespace bloomring::cli
