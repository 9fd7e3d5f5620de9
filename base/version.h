// Version and commit of this build. The version is that of the root CMake file ("0.1.0"). The commit is the one that
// CMake found checked out when it configured the build. -DBLOOMRING_COMMIT=... overrides it; without git it is
// "unknown".
#pragma once

#include <string_view>

namespace bloomring {

std::string_view version();
std::string_view commit();

}  // namespace bloomring
