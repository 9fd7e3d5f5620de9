// The command line: declares the commands of a process and of pages, and, through the other file pairs of this room,
// all others. Only this room and cli/pages use CLI11.
#pragma once

namespace bloomring::cli {

// Parses, runs the command and returns its exit code: 2 for a wrong command line, with the nearest correct word on
// standard error; 0 after --help and --version.
int run_command_line(int argc, const char* const* argv);

}  // namespace bloomring::cli
