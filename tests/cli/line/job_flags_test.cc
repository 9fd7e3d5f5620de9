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

TEST_CASE("cli: an export needs the kind of the old store, and a job takes keys or users") {
  CHECK(refusal_of({"export", "--name", "a"}) == "what is required");
  CHECK(refusal_of({"export", "zest", "--name", "a"}) == "what: zest must be one of zset; did you mean zset?");
  CHECK(refusal_of({"export", "zset"}) == "--name is required");
  for (const char* job : {"migrate", "verify"}) {
    std::vector<std::string> words = {job, "--name", "a", "--keys", "k", "--users", "u"};
    if (words.front() == "migrate") words.insert(words.begin() + 1, "zset");
    CHECK(refusal_of(words) == "--keys excludes --users");
  }
}

TEST_CASE("cli: what is done to a job needs the job, and a rate its number") {
  CHECK(refusal_of({"jobs", "lits"}) == "what: lits must be one of list, rate, remove; did you mean list?");
  CHECK(refusal_of({"jobs", "remove"}) == "name is required");
  CHECK(refusal_of({"jobs", "rate", "a"}) == "rate is required");
  CHECK(refusal_of({"jobs", "rate", "a", "fast"}).find("fast") != std::string::npos);
}
