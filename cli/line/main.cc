#include "base/host/open_files.h"
#include "base/host/private_files.h"
#include "base/host/process_end.h"
#include "cli/line/command_line.h"

int main(int argc, char** argv) {
  bloomring::raise_open_files_limit();
  bloomring::keep_files_private();
  bloomring::end_process(bloomring::cli::run_command_line(argc, argv));
}
