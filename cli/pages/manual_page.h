// The manual page bloomring(1), in the man macros of roff: each command with its flags, examples and exit codes.
// Threading: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/pages/command_sheet.h"

namespace bloomring::cli {

std::string manual_page(std::string_view version, const std::vector<CommandSheet>& sheets);

}  // namespace bloomring::cli
