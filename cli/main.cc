#include "base/open_files.h"
#include "cli/command_line.h"

int main(int argc, char** argv) {
  bloomring::raise_open_files_limit();
  return bloomring::cli::run_command_line(argc, argv);
}
