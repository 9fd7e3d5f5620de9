// The output of a command: results on standard output, everything else on standard error.
#pragma once

#include <functional>
#include <iosfwd>
#include <string_view>

#include "base/result.h"

namespace bloomring::cli {

// 0 for success, 2 for kInvalid, 1 for every other failure.
int exit_code(const Status& status);

// Writes a failure to standard error, each line with "bloomring: " in front, or as an error line of a JSON log.
// Returns its exit code.
int report(const Status& status);

// The same; with `json` it also writes the result {"error":"..."}, so that standard output is always JSON.
int report_result(const Status& status, bool json);

// Runs a client command, which writes its errors to the stream and returns its exit code. Shows the errors on standard
// error; after a failure with `json` it also writes them as the result. Returns as `finish_output`.
int run_client(bool json, const std::function<int(std::ostream& errors)>& client);

// Writes a result to standard output unchanged.
void print(std::string_view result);

// Returns `exit_code`, or 1, with a line on standard error, when standard output could not be written (a full disk, a
// closed pipe). It writes the line only once, however often it is called.
int finish_output(int exit_code);

}  // namespace bloomring::cli
