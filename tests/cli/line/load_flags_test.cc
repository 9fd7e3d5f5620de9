#include "tests/cli/line/refused.h"

using namespace bloomring::testing;

TEST_CASE("cli: generate and load take the same plays, and refuse the same that cannot be") {
  for (const char* command : {"generate", "load"}) {
    INFO(command);
    CHECK(refusal_of({command, "--users", "0"}) == "--users: Value 0 not in range 1 to 100000000");
    CHECK(refusal_of({command, "--items", "0"}) == "--items: Value 0 not in range 1 to 1000000000");
    CHECK(refusal_of({command, "--hours", "0"}) == "--hours: Value 0 not in range 1 to 100000");
    CHECK(refusal_of({command, "--id-bytes", "129"}) == "--id-bytes: Value 129 not in range 0 to 128");
    CHECK(refusal_of({command, "--repeats", "1.5"}) == "--repeats: Value 1.5 not in range 0.000000 to 1.000000");
    CHECK_THAT(refusal_of({command, "--rate", "-1"}), Catch::StartsWith("--rate: Value -1 not in range "));
  }
}

TEST_CASE("cli: the calls of a load have bounds") {
  CHECK(refusal_of({"load", "--served", "1001"}) == "--served: Value 1001 not in range 0 to 1000");
  CHECK(refusal_of({"load", "--connections", "0"}) == "--connections: Value 0 not in range 1 to 1000");
  CHECK(refusal_of({"load", "--seen-max", "1.5"}) == "--seen-max: Value 1.5 not in range 0.000000 to 1.000000");
  CHECK_THAT(refusal_of({"load", "--seconds", "0"}), Catch::StartsWith("--seconds: Value 0 not in range "));
}
