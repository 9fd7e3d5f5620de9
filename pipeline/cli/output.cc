#include "pipeline/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "base/log.h"

namespace bloomring::cli {

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

void print(std::string_view result) { std::cout << result << std::flush; }

int finish_output(int exit_code) {
  std::cout.flush();
  if (std::cout.good()) return exit_code;
  return report(fatal("standard output cannot be written: " + std::string(std::strerror(errno))));
}

}  // namespace bloomring::cli
