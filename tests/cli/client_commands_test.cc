#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: what a client could not do is a result in JSON, and words alone in text") {
  const std::vector<std::vector<std::string>> commands = {{"query", "--user", "u1", "v1"},
                                                          {"served", "--user", "u1", "v1"},
                                                          {"forget", "--user", "u1", "v1"},
                                                          {"snapshot", "--user", "u1", "--test", "v1"}};
  for (std::vector<std::string> words : commands) {
    INFO(words.front());
    words.insert(words.end(), {"--server", "127.0.0.1:1", "--timeout-ms", "60000"});
    const Outcome json = run(words);
    CHECK(json.exit_code == 1);
    CHECK(nlohmann::json::parse(json.out)["error"].get<std::string>() + "\n" == json.err);
    words.insert(words.end(), {"--output", "text"});
    CHECK(run(words).out == "");
  }
  const Outcome inspect = run({"inspect", "store", "--set", "store.path=/nonexistent"});
  CHECK(inspect.exit_code == 2);
  CHECK(contains(nlohmann::json::parse(inspect.out)["error"], "store.path /nonexistent does not exist"));
}

TEST_CASE("cli: a file that is no snapshot is named") {
  const Scratch scratch;
  const Outcome outcome = scratch.run({"snapshot", "--from", scratch.file("garbage"), "--test", "v1"});
  CHECK(outcome.exit_code != 0);
  CHECK(contains(outcome.err, "bloomring.yaml: "));
}
