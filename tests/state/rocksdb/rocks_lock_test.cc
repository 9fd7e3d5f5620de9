#include "state/rocksdb/rocks_lock.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("rocks lock: the process that holds the lock of a folder is named, until it ends") {
  const Folder folder;
  CHECK(rocks_writer(folder / "absent") == 0);
  const std::string path = folder / "LOCK";
  write_file(path, "");
  CHECK(rocks_writer(folder / "") == 0);
  int locked[2], end[2];
  REQUIRE((::pipe(locked) == 0 && ::pipe(end) == 0));
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(end[1]);
    const int file = ::open(path.c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    char byte = ::fcntl(file, F_SETLK, &lock) == 0 ? 'y' : 'n';
    const bool told = ::write(locked[1], &byte, 1) == 1;
    ::_exit(told && ::read(end[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte = 'n';
  REQUIRE(::read(locked[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  CHECK(rocks_writer(folder / "") == child);
  for (const int descriptor : {locked[0], locked[1], end[0], end[1]}) ::close(descriptor);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(rocks_writer(folder / "") == 0);
}
