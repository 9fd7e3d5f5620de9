#include <catch2/catch.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: output that cannot be written is a failure") {
  const Outcome outcome = Scratch().run_to("/dev/full", {"reference", "config"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "bloomring: standard output cannot be written: No space left on device\n");
}

TEST_CASE("cli: output that cannot be written is told once") {
  const Outcome outcome = Scratch().run_to("/dev/full", {"check", "--print"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "bloomring: standard output cannot be written: No space left on device\n");
}
