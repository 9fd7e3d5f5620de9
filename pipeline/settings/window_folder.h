// The folder where the window stage keeps a partition on its disk. We never touch other folders in state.path.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

inline constexpr const char* kWindowFolderPrefix = "window-";

inline std::string window_folder(const Settings& settings, PartitionId partition) {
  return settings.state.path + "/" + kWindowFolderPrefix + std::to_string(partition.value);
}

// Removes those of all partitions, for a new log: the window stage makes them again from it.
// Errors: kFatal with the folder that cannot be removed; another call completes it.
Status remove_window_folders(const Settings& settings);

}  // namespace bloomring
