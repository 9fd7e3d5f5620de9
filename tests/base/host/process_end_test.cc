#include "base/host/process_end.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace bloomring;

namespace {

constexpr int kDestroyed = 99;  // The code of a child in which a function of `atexit` ran.

struct Ended {
  int code = -1;  // -1: by a signal.
  std::string written;
};

// A child whose standard output is a pipe, and that ends with this code after it wrote to its streams.
Ended end_child(int code) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    std::atexit([] { ::_exit(kDestroyed); });
    std::printf("stdio ");
    std::cout << "stream";
    end_process(code);
  }
  ::close(pipe[1]);
  Ended ended;
  std::array<char, 64> bytes{};
  for (ssize_t size = 0; (size = ::read(pipe[0], bytes.data(), bytes.size())) > 0;) {
    ended.written.append(bytes.data(), static_cast<size_t>(size));
  }
  ::close(pipe[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

}  // namespace

TEST_CASE("process end: a process ends with its code and its output, and destroys nothing that threads may still use") {
  for (const int code : {0, 3}) {
    const Ended ended = end_child(code);
    CHECK(ended.code == code);
    CHECK(ended.written == "stdio stream");
  }
}
