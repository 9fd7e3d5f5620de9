#include "serving/server/open_connections.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace bloomring {

namespace {

std::optional<ino_t> inode_of(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return found.st_ino;
}

// Works on a duplicate: gRPC may close the descriptor, and the number may belong to another file a moment later.
void end_connection(int descriptor, ino_t inode) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return;
  if (inode_of(copy) == inode) ::shutdown(copy, SHUT_RDWR);
  ::close(copy);
}

}  // namespace

void OpenConnections::add(int descriptor, const std::string& network) {
  forget(descriptor);
  const auto inode = inode_of(descriptor);
  if (!inode) return;
  const auto of = by_network_.try_emplace(network).first;
  of->second.push_back(descriptor);
  connections_.emplace(descriptor, Connection{*inode, of});
}

void OpenConnections::forget(int descriptor) {
  const auto found = connections_.find(descriptor);
  if (found == connections_.end()) return;
  const auto of = found->second.of;
  std::erase(of->second, descriptor);
  if (of->second.empty()) by_network_.erase(of);
  connections_.erase(found);
}

void OpenConnections::sweep() {
  for (auto network = by_network_.begin(); network != by_network_.end();) {
    std::erase_if(network->second, [this](int descriptor) {
      const auto connection = connections_.find(descriptor);
      if (inode_of(descriptor) == connection->second.inode) return false;
      connections_.erase(connection);
      return true;
    });
    network = network->second.empty() ? by_network_.erase(network) : std::next(network);
  }
}

bool OpenConnections::make_room(const std::string& newcomer) {
  const auto most =
      std::ranges::max_element(by_network_, {}, [](const auto& network) { return network.second.size(); });
  const auto own = by_network_.find(newcomer);
  const size_t after = (own == by_network_.end() ? 0 : own->second.size()) + 1;
  if (most == by_network_.end() || most->second.size() <= after) return false;
  const int newest = most->second.back();
  end_connection(newest, connections_.at(newest).inode);
  forget(newest);
  return true;
}

}  // namespace bloomring
