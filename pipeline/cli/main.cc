#include "pipeline/cli/command_line.h"

int main(int argc, char** argv) { return bloomring::cli::run_command_line(argc, argv); }
