// What a command says: results on standard output, everything else on standard error.
#pragma once

#include <string_view>

#include "base/result.h"

namespace bloomring::cli {

// 0 for success, 2 for kInvalid, 1 for every other failure.
int exit_code(const Status& status);

// Writes a failure to standard error, each line with "bloomring: " in front, or as an error of the log where that is in
// JSON, and returns its exit code.
int report(const Status& status);

// Writes a result to standard output as it is.
void print(std::string_view result);

// The exit code of a command whose output must have arrived: 1, with a line on standard error, when standard output
// could not be written (a full disk, a closed pipe).
int finish_output(int exit_code);

}  // namespace bloomring::cli
