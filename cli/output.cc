#include "cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "base/log.h"

namespace bloomring::cli {

namespace {
int output_error = 0;  // errno of the first failed write to standard output.
bool error_told = false;

void print_error(std::string message) {
  while (message.ends_with('\n')) message.pop_back();
  using Json = nlohmann::ordered_json;
  print(Json{{"error", message}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}
}  // namespace

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

int report_result(const Status& status, bool json) {
  if (!status.ok() && json) print_error(status.message());
  return report(status);
}

int run_client(bool json, const std::function<int(std::ostream& errors)>& client) {
  std::ostringstream errors;
  const int code = client(errors);
  std::cerr << errors.view() << std::flush;
  if (code != 0 && json && !errors.view().empty()) print_error(errors.str());
  return finish_output(code);
}

void print(std::string_view result) {
  errno = 0;
  std::cout << result << std::flush;
  if (!std::cout.good() && output_error == 0) output_error = errno;
}

int finish_output(int code) {
  std::cout.flush();
  if (std::cout.good()) return code;
  if (std::exchange(error_told, true)) return exit_code(fatal(""));
  const int error = output_error == 0 ? EIO : output_error;
  return report(fatal("standard output cannot be written: " + std::string(std::strerror(error))));
}

}  // namespace bloomring::cli
