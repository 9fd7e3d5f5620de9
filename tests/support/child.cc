#include "tests/support/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/result.h"

namespace bloomring::testing {

Child::Child(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int ends[2];
  BLOOMRING_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "pipe");
  pid_ = ::fork();
  BLOOMRING_CHECK(pid_ >= 0, "fork");
  if (pid_ == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
}

Child::~Child() {
  if (pid_ > 0) kill_now();
  ::close(output_);
}

std::string Child::line() {
  std::string text;
  char c = 0;
  while (::read(output_, &c, 1) == 1 && c != '\n') text.push_back(c);
  return text;
}

void Child::kill_now() {
  ::kill(pid_, SIGKILL);
  wait();
}

int Child::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace bloomring::testing
