// What this build is of: the version from the root CMake file, "0.1.0", and the commit that was checked out when the
// build was configured, or what -DBLOOMRING_COMMIT=... said then; "unknown" without git.
#pragma once

#include <string_view>

namespace bloomring {

std::string_view version();
std::string_view commit();

}  // namespace bloomring
