// A file that a command writes for its user alone.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring::cli {

// kInvalid, naming `flag`, when the file is there already or cannot be written.
Status write_new(const std::string& flag, const std::string& path, std::string_view bytes);

}  // namespace bloomring::cli
