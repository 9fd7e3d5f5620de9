#include "serving/server/hang_up.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "base/host/addresses.h"

namespace bloomring {

namespace {

std::vector<int> open_files() {
  std::vector<int> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename().string();
    int file = -1;
    std::from_chars(name.data(), name.data() + name.size(), file);
    files.push_back(file);
  }
  return files;
}

// Works on a duplicate of each descriptor: the number may belong to another file a moment later.
void for_each_socket(uint16_t port, const std::function<void(int)>& take) {
  for (const int file : open_files()) {
    const int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) continue;
    if (local_port(copy) == port) take(copy);
    ::close(copy);
  }
}

}  // namespace

void hang_up(uint16_t port) {
  for_each_socket(port, [](int socket) { ::shutdown(socket, SHUT_WR); });
}

}  // namespace bloomring
