// The command line: every command and flag is declared here, and nowhere else. The only file pair that knows CLI11.
#pragma once

namespace bloomring::cli {

// Parses, runs the command and returns the exit code: 2 for a command line that is wrong, with the nearest right word
// on standard error; 0 after --help and --version.
int run_command_line(int argc, const char* const* argv);

}  // namespace bloomring::cli
