// What a command says: results on standard output, everything else on standard error.
#pragma once

#include <functional>
#include <iosfwd>
#include <string_view>

#include "base/result.h"

namespace bloomring::cli {

// 0 for success, 2 for kInvalid, 1 for every other failure.
int exit_code(const Status& status);

// Writes a failure to standard error, each line with "bloomring: " in front, or as an error of the log where that is in
// JSON, and returns its exit code.
int report(const Status& status);

// The same for a command whose result is `json`: a failure is then a result as well, {"error":"..."}, so that standard
// output can always be read as JSON.
int report_result(const Status& status, bool json);

// Runs a client command, which writes its errors to the stream and gives its exit code. The errors are shown on
// standard error; where the command failed and its result is `json`, they are the result as well. Gives what
// `finish_output` does.
int run_client(bool json, const std::function<int(std::ostream& errors)>& client);

// Writes a result to standard output as it is.
void print(std::string_view result);

// The exit code of a command whose output must have arrived: 1, with a line on standard error, when standard output
// could not be written (a full disk, a closed pipe). The line comes once, however often this is called.
int finish_output(int exit_code);

}  // namespace bloomring::cli
