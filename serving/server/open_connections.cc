#include "serving/server/open_connections.h"

#include <sys/stat.h>

#include <optional>

namespace bloomring {

namespace {

std::optional<ino_t> inode_of(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return found.st_ino;
}

}  // namespace

void OpenConnections::add(int descriptor) {
  if (const auto inode = inode_of(descriptor)) inodes_[descriptor] = *inode;
}

void OpenConnections::sweep() {
  std::erase_if(inodes_, [](const auto& one) { return inode_of(one.first) != one.second; });
}

}  // namespace bloomring
