#include "tests/cli/line/refused.h"

using namespace bloomring::testing;

TEST_CASE("cli: shadow takes queries from a file or from copies of calls, and from one of the two") {
  CHECK(refusal_of({"shadow"}) == "--queries FILE or --listen HOST:PORT is required");
  CHECK(refusal_of({"shadow", "--queries", "a", "--listen", "127.0.0.1:0"}) == "--queries excludes --listen");
  CHECK(refusal_of({"shadow", "--queries", "a", "--old", "set"}) ==
        "--old: set must be one of filters, sets; did you mean sets?");
  CHECK(refusal_of({"shadow", "--queries", "a", "--rate", "0"}).starts_with("--rate: Value 0 not in range"));
  CHECK(refusal_of({"shadow", "--queries", "a", "--old-error", "1.5"}).starts_with("--old-error: Value 1.5 not in"));
}
