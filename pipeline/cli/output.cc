#include "pipeline/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "base/log.h"

namespace bloomring::cli {

namespace {
int output_error = 0;  // errno of the first write to standard output that failed.
}

int exit_code(const Status& status) {
  if (status.ok()) return 0;
  return status.code() == Code::kInvalid ? 2 : 1;
}

int report(const Status& status) {
  std::istringstream lines(status.message());
  for (std::string line; std::getline(lines, line);) {
    if (log_format() == LogFormat::kJson) {
      log_error(line, {{"code", code_name(status.code())}});
    } else {
      std::cerr << "bloomring: " << line << "\n";
    }
  }
  return exit_code(status);
}

void print(std::string_view result) {
  errno = 0;
  std::cout << result << std::flush;
  if (!std::cout.good() && output_error == 0) output_error = errno;
}

int finish_output(int exit_code) {
  std::cout.flush();
  if (std::cout.good()) return exit_code;
  const int error = output_error == 0 ? EIO : output_error;
  return report(fatal("standard output cannot be written: " + std::string(std::strerror(error))));
}

}  // namespace bloomring::cli
