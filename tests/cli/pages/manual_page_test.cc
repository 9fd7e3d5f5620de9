#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "tests/cli/help_words.h"

using namespace bloomring::testing;

TEST_CASE("manual page: it names every command, and each flag of its help") {
  std::string page = run({"manual"}).out;
  for (size_t at = page.find("\\-"); at != std::string::npos; at = page.find("\\-", at)) page.erase(at, 1);
  const std::vector<std::string> commands = commands_in_help();
  for (const std::string& command : commands) {
    INFO(command);
    const size_t begin = page.find("\n.SS bloomring " + command + "\n");
    REQUIRE(begin != std::string::npos);
    const std::string part = page.substr(begin, page.find("\n.SS ", begin + 1) - begin);
    for (const std::string& flag : flags_in_help(command)) {
      INFO(flag);
      CHECK(contains(part, "\\fB" + flag + "\\fR"));
    }
  }
  CHECK(commands.size() >= 17);
}

TEST_CASE("manual page: its lines are text or macros of man, and each block without filling ends") {
  const std::set<std::string> macros = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi", ".\\\""};
  std::istringstream lines(run({"manual"}).out);
  bool filled = true;
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    INFO(line);
    CHECK_FALSE(line.starts_with('\''));
    if (!line.starts_with('.')) continue;
    const std::string macro = line.substr(0, line.find(' '));
    CHECK(macros.count(macro) == 1);
    if (macro == ".nf" || macro == ".fi") {
      CHECK(filled == (macro == ".nf"));
      filled = macro == ".fi";
    }
  }
  CHECK(filled);
  CHECK(count > 200);
}
