// A process of its own for tests that kill one. Ends it when the test is over.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace bloomring::testing {

class Child {
 public:
  // Runs the program `name` that lies in the folder of the test program.
  Child(const std::string& name, const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next line that it prints, without the newline; empty when it has ended. Blocks.
  std::string line();
  void kill_now();  // SIGKILL, and waits for the end.
  int wait();       // The exit code; -1 when it was killed.

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace bloomring::testing
