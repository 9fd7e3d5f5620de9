// The version of bloomring, from the root CMake file: "0.1.0".
#pragma once

#include <string_view>

namespace bloomring {

std::string_view version();

}  // namespace bloomring
