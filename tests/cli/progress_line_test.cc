#include "cli/progress_line.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace bloomring;
using namespace bloomring::cli;

TEST_CASE("progress line: on a terminal each step replaces the one before, and the end begins a line of its own") {
  std::ostringstream terminal;
  {
    ProgressLine progress("exporting", &terminal);
    progress.show({{"files", 9}, {"files_known", 10}});
    CHECK(terminal.str() == "\rexporting: 9 files, 10 files known\x1b[K");
    progress.show({{"files", 10}, {"files_known", 10}});
  }
  CHECK(terminal.str() ==
        "\rexporting: 9 files, 10 files known\x1b[K"
        "\rexporting: 10 files, 10 files known\x1b[K\n");
}

TEST_CASE("progress line: work without a step leaves the terminal as it was") {
  std::ostringstream terminal;
  { const ProgressLine progress("exporting", &terminal); }
  CHECK(terminal.str().empty());
}

TEST_CASE("progress line: without a terminal each step is a line of the log") {
  const uint64_t before = log_lines(LogLevel::kInfo);
  {
    ProgressLine progress("exporting", nullptr);
    progress.show({{"files", 1}});
    progress.show({{"files", 2}});
  }
  CHECK(log_lines(LogLevel::kInfo) == before + 2);
}
