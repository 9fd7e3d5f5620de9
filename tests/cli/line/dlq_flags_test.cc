#include "tests/cli/line/refused.h"

using namespace bloomring::testing;

TEST_CASE("dlq: what it does is one of its words, and a slip names the nearest") {
  CHECK(refusal_of({"dlq", "lsit"}) == "what: lsit must be one of list, replay, show; did you mean list?");
  CHECK(refusal_of({"dlq"}) == "what is required");
}

TEST_CASE("dlq: one letter needs no selection, and flags of show are not for list") {
  CHECK(refusal_of({"dlq", "show", "--at", "0:1", "--reason", "empty_id"}) == "--reason excludes --at");
  CHECK(refusal_of({"dlq", "list", "--newest", "3"}) == "--newest requires dlq show");
  CHECK(refusal_of({"dlq", "list", "--execute"}) == "--execute requires dlq replay");
  CHECK(refusal_of({"dlq", "replay", "--newest", "3", "--name", "n"}) == "--newest requires dlq show");
  CHECK(refusal_of({"dlq", "replay", "--execute"}) == "--name is required");
  CHECK(refusal_of({"dlq", "show", "--raw", "file"}) == "--raw requires --at");
  CHECK(refusal_of({"dlq", "show", "--newest", "101"}) == "--newest: Value 101 not in range 1 to 100");
}

TEST_CASE("dlq: a wrong reason or time is refused before any broker is asked") {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"dlq", "list", "--set", "kafka.bootstrap=127.0.0.1:1"});
    const Outcome outcome = run(words);
    CHECK(outcome.exit_code == 2);
    return outcome.err;
  };
  CHECK(contains(refused({"--reason", "missing_fild"}), "--reason missing_fild is no reason of a refusal; did you mean "
                                                        "missing_field? There are: malformed_json, "));
  CHECK(contains(refused({"--since", "yesterday"}), "--since yesterday: give a time as 2026-11-02T10:15:00Z"));
  CHECK(contains(refused({"--since", "1h", "--until", "2h"}), "--since 1h is not before --until 2h"));
}
