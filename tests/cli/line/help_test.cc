#include <catch2/catch.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: help and version are results and exit with 0") {
  CHECK(run({"--version"}).out == "bloomring " BLOOMRING_VERSION "\n");
  const Outcome help = run({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err == "");
  for (const char* command : {"run", "dev", "query", "served", "forget", "snapshot", "generate", "load", "check",
                              "topics", "inspect", "plan", "store", "dlq", "reference", "topology", "status", "version",
                              "completion", "manual"}) {
    INFO(command);
    CHECK(contains(help.out, "\n  " + std::string(command) + " "));
    const Outcome own = run({command, "--help"});
    CHECK(own.exit_code == 0);
    CHECK(contains(own.out, "Usage: bloomring " + std::string(command)));
    CHECK(contains(own.out, "Examples:\n  bloomring " + std::string(command) + " "));
    CHECK(contains(own.out, "Exit codes:\n  0  done\n  1  "));
    CHECK(own.err == "");
  }
}
