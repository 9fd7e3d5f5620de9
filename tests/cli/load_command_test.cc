#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: bounds of a load that are the wrong way round are refused") {
  const Outcome outcome = run({"load", "--seen-min", "0.5"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err == "bloomring: --seen-min is more than --seen-max\n");
}

TEST_CASE("cli: a load that nobody answers prints its errors by code and exits with 1") {
  const Outcome outcome =
      run({"load", "--server", "127.0.0.1:1", "--rate", "100", "--seconds", "0.1", "--warm-up-seconds", "0", "--users",
           "10", "--plays", "1000", "--candidates-max", "2000", "--timeout-ms", "60000"});
  CHECK(outcome.exit_code == 1);
  CHECK(nlohmann::json::parse(outcome.out)["filter"]["errors"]["UNAVAILABLE"] > 0);
  CHECK(contains(outcome.err, "127.0.0.1:1: no call was answered"));
}
