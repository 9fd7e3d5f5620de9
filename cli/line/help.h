// The end of each command's --help: examples and exit codes.
// Threading: pure functions.
#pragma once

#include <string>

namespace bloomring::cli {

std::string help_footer(const std::string& command);

}  // namespace bloomring::cli
