#include "tests/cli/line/refused.h"

using namespace bloomring::testing;

TEST_CASE("cli: flags of a call that contradict each other are refused, in either order") {
  CHECK(refusal_of({"query", "--batch", "--user", "u1"}) == "--user excludes --batch");
  CHECK(refusal_of({"query", "--user", "u1", "--batch"}) == "--user excludes --batch");
  CHECK(refusal_of({"query", "--all-scenes", "--scene", "feed"}) == "--scene excludes --all-scenes");
  CHECK(refusal_of({"query", "--scene", "feed", "--all-scenes"}) == "--scene excludes --all-scenes");
  CHECK(refusal_of({"forget", "--user", "u1", "--all-scenes", "--scene", "feed", "v1"}) ==
        "--scene excludes --all-scenes");
  CHECK(refusal_of({"forget", "--user", "u1", "--everything", "v1"}) == "--everything excludes items");
  CHECK(refusal_of({"snapshot", "--user", "u1", "--from", "blob"}) == "--user excludes --from");
}

TEST_CASE("cli: a call needs what it is about") {
  for (const char* command : {"query", "served", "forget"}) {
    INFO(command);
    CHECK(refusal_of({command, "v1"}) == "--user is required");
  }
  CHECK(refusal_of({"forget", "--user", "u1"}) == "an item or --everything is required");
  CHECK(refusal_of({"snapshot", "--user", "u1", "v1"}) == "items requires --test");
}
