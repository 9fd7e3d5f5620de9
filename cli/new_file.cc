#include "cli/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace bloomring::cli {

Status write_new(const std::string& flag, const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const auto failed = [&] { return invalid(flag + ": " + path + " cannot be written: " + std::strerror(errno)); };
  if (file < 0) return failed();
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR) {
      const Status status = failed();
      ::close(file);
      return status;
    }
    done += written < 0 ? 0 : static_cast<size_t>(written);
  }
  return ::close(file) == 0 ? Status() : failed();
}

}  // namespace bloomring::cli
