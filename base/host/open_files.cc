#include "base/host/open_files.h"

#include <sys/resource.h>

namespace bloomring {

uint64_t open_files_limit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return 0;
  return files.rlim_cur == RLIM_INFINITY ? UINT64_MAX : files.rlim_cur;
}

uint64_t raise_open_files_limit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  return open_files_limit();
}

}  // namespace bloomring
