// The reference page of the command line, in Markdown: each command with its flags, examples and exit codes.
// Threading: pure functions.
#pragma once

#include <string>
#include <vector>

#include "cli/pages/command_sheet.h"

namespace bloomring::cli {

std::string command_page(const std::vector<CommandSheet>& sheets);

}  // namespace bloomring::cli
