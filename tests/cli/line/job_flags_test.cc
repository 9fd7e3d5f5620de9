#include "tests/cli/line/refused.h"

using namespace bloomring::testing;

TEST_CASE("cli: a job needs a name, a rate above 0, and live signals or the word that it goes without") {
  CHECK(refusal_of({"replay", "--execute"}) == "--name is required");
  CHECK(refusal_of({"replay", "--name", "a", "--rate", "0"}).starts_with("--rate: Value 0 not in range"));
  CHECK(refusal_of({"replay", "--name", "a", "--watch", "a:1", "--unwatched"}) == "--watch excludes --unwatched");
  CHECK(refusal_of({"replay", "--name", "a", "--form", "blocs"}) ==
        "--form: blocs must be one of blocks, json; did you mean blocks?");
  CHECK(refusal_of({"replay", "--name", "a", "--form", "plays"}) == "--form: plays must be one of blocks, json");
  CHECK(refusal_of({"replay", "--nmae", "a"}) == "unknown flag --nmae; did you mean --name?");
}

TEST_CASE("cli: what is done to a job needs the job, and a rate its number") {
  CHECK(refusal_of({"jobs", "lits"}) == "what: lits must be one of list, rate, remove; did you mean list?");
  CHECK(refusal_of({"jobs", "remove"}) == "name is required");
  CHECK(refusal_of({"jobs", "rate", "a"}) == "rate is required");
  CHECK(refusal_of({"jobs", "rate", "a", "fast"}).find("fast") != std::string::npos);
}
