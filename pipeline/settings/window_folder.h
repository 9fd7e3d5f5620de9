// Where the window stage keeps a partition on its disk. Other folders in state.path are not ours to touch.
#pragma once

#include <string>

#include "base/ids.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

inline constexpr const char* kWindowFolderPrefix = "window-";

inline std::string window_folder(const Settings& settings, PartitionId partition) {
  return settings.state.path + "/" + kWindowFolderPrefix + std::to_string(partition.value);
}

}  // namespace bloomring
