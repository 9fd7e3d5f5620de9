#include <catch2/catch.hpp>

#include "tests/cli/help_words.h"

using namespace bloomring::testing;

namespace {

// The part of the page about one command.
std::string part_of(const std::string& page, const std::string& command) {
  const size_t begin = page.find("\n## bloomring " + command + "\n");
  return begin == std::string::npos ? "" : page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

}  // namespace

TEST_CASE("command page: it has every command in its list and as a part, with each flag of its help") {
  const std::string page = run({"reference", "commands"}).out;
  const std::vector<std::string> commands = commands_in_help();
  for (const std::string& command : commands) {
    INFO(command);
    CHECK(contains(page, "| [bloomring " + command + "](#bloomring-" + command + ") | "));
    const std::string part = part_of(page, command);
    REQUIRE(!part.empty());
    for (const std::string& flag : flags_in_help(command)) {
      INFO(flag);
      CHECK(contains(part, "\n| `" + flag + "`"));
    }
  }
  CHECK(commands.size() >= 17);
}

TEST_CASE("command page: a part has the command's values, examples and exit codes") {
  const std::string page = run({"reference", "commands"}).out;
  const std::string topics = part_of(page, "topics");
  CHECK(contains(topics, "\n| `--output` | `json`, `strimzi`, `text` | "));
  CHECK(contains(topics, "\n```text\nbloomring topics --config site.yaml --output text\n"));
  CHECK(contains(topics, "\n| 0 | done |\n| 1 | no broker answered |\n"));
  CHECK(contains(topics, "\n| 3 | without --execute: topics are missing |\n"));
  CHECK(contains(part_of(page, "store"), "\n| `what` (required) | `backup`, `check`, "));
  CHECK(contains(part_of(page, "status"), "\n| `--every` | `SECONDS`, an integer in [1, 3600] | "));
  CHECK(contains(part_of(page, "load"), "\n| `--warm-up-seconds` | `SECONDS`, a number from 0 on | "));
  CHECK(contains(part_of(page, "load"), "\n| `--server` | `HOST:PORT[,HOST:PORT...]` | "));
  CHECK_FALSE(contains(page, "`--help` |"));
}

TEST_CASE("command page: it has the exit codes that hold for all commands, and no two empty lines in a row") {
  const std::string page = run({"reference", "commands"}).out;
  CHECK(contains(page, "\n## Exit codes\n"));
  CHECK(contains(page, "\n| 3 | done, and it found what must not be |\n"));
  CHECK_FALSE(contains(page, "\n\n\n"));
  CHECK(page.ends_with("|\n"));
}
