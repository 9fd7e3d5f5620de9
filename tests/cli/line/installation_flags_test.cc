#include "tests/cli/line/refused.h"

using namespace bloomring::testing;

TEST_CASE("cli: what a command about an installation does is one of its words, and a slip names the nearest") {
  CHECK(refusal_of({"store", "nwe-log"}) ==
        "what: nwe-log must be one of backup, check, export, import, list, new-log, restore, slot-length; did you mean "
        "new-log?");
  CHECK(refusal_of({"inspect", "rnig"}) == "what: rnig must be one of filter, ring, store, user; did you mean ring?");
  CHECK(refusal_of({"store"}) == "what is required");
  CHECK(refusal_of({"acls", "--output", "xml"}) == "--output: xml must be one of commands, json, strimzi");
  CHECK(refusal_of({"topology", "--output", "jsno"}) ==
        "--output: jsno must be one of json, mermaid, text; did you mean json?");
}

TEST_CASE("cli: a flag of a change needs the change, and an export is not an import") {
  CHECK(refusal_of({"topics", "--create-plays"}) == "--create-plays requires --execute or --output strimzi");
  CHECK(refusal_of({"store", "import", "--from", "a", "--to", "b"}) == "--to excludes --from");
  CHECK(refusal_of({"inspect", "ring", "--partition", "first"}) == "Could not convert: --partition = first");
}
