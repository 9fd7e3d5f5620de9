// The command line: declares every command and flag. The only file pair that uses CLI11.
#pragma once

namespace bloomring::cli {

// Parses, runs the command and returns its exit code: 2 for a wrong command line, with the nearest correct word on
// standard error; 0 after --help and --version.
int run_command_line(int argc, const char* const* argv);

}  // namespace bloomring::cli
