// Serves with a bound on open files until it is killed: few_files_server FILES. Prints its address.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "tests/support/served_over_grpc.h"

int main(int, char** arguments) {
  const auto files = static_cast<rlim_t>(std::atoi(arguments[1]));
  const rlimit bound{files, files};
  if (::setrlimit(RLIMIT_NOFILE, &bound) != 0) return 1;
  const bloomring::Served served;
  std::cout << served.server->address() << std::endl;
  ::pause();
}
