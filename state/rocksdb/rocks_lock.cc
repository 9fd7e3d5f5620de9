#include "state/rocksdb/rocks_lock.h"

#include <fcntl.h>
#include <unistd.h>

namespace bloomring {

pid_t rocks_writer(const std::string& folder) {
  const int file = ::open((folder + "/LOCK").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return 0;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool told = ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(file);
  return told ? lock.l_pid : 0;
}

}  // namespace bloomring
