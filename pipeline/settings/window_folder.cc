#include "pipeline/settings/window_folder.h"

#include <filesystem>

namespace bloomring {

Status remove_window_folders(const Settings& settings) {
  for (uint32_t p = 0; p < settings.topics.partitions; ++p) {
    const std::string folder = window_folder(settings, PartitionId(static_cast<int32_t>(p)));
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (error) return fatal(folder + " cannot be removed: " + error.message() + "; remove it, and run this again");
  }
  return {};
}

}  // namespace bloomring
