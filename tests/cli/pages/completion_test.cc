#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

namespace {

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char bytes[4096];
  while (const size_t count = fread(bytes, 1, sizeof bytes, pipe)) text.append(bytes, count);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

// The completions that bash offers for a command line, one a line. The last word is the incomplete one.
std::string completed(const Scratch& scratch, const std::string& words) {
  const std::string script = scratch.file(run({"completion", "bash"}).out);
  return output_of("cd '" + std::filesystem::path(script).parent_path().string() + "' && bash -c 'source \"" + script +
                   "\"; COMP_WORDS=(" + words +
                   "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _bloomring; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
}

}  // namespace

TEST_CASE("completion: bash completes commands, flags, words of a closed list and paths") {
  const Scratch scratch;
  CHECK(completed(scratch, "bloomring to") == "topics\ntopology\n");
  CHECK(completed(scratch, "bloomring --ve") == "--version\n");
  CHECK(completed(scratch, "bloomring run --s") == "--set\n--stages\n");
  CHECK(completed(scratch, "bloomring check --output \"\"") == "json\ntext\n");
  CHECK(completed(scratch, "bloomring check --output = j") == "json\n");
  CHECK(completed(scratch, "bloomring check --output =") == "json\ntext\n");
  CHECK(completed(scratch, "bloomring reference m") == "metrics\n");
  CHECK(completed(scratch, "bloomring completion \"\"") == "bash\nfish\nzsh\n");
  CHECK(completed(scratch, "bloomring run --config bloomring.y") == "bloomring.yaml\n");
  CHECK(completed(scratch, "bloomring dev --data bloomring.y") == "\n");  // A folder is wanted.
  CHECK(completed(scratch, "bloomring query --user \"\"") == "\n");
  CHECK(completed(scratch, "bloomring nonsense x") == "\n");
}

TEST_CASE("completion: each shell's script names every command, and every flag that a command's help has") {
  const std::string bash = run({"completion", "bash"}).out;
  const std::string fish = run({"completion", "fish"}).out;
  const std::string zsh = run({"completion", "zsh"}).out;
  CHECK(zsh.starts_with("#compdef bloomring\n"));
  for (const std::string command : {"run", "query", "load", "store", "completion"}) {
    INFO(command);
    CHECK(contains(bash, "\n    " + command + ") flags="));
    CHECK(contains(fish, " -a " + command + " -d '"));
    CHECK(contains(zsh, "\n    " + command + ") _arguments"));
    const std::string help = run({command, "--help"}).out;
    for (size_t at = help.find("\n  --"); at != std::string::npos; at = help.find("\n  --", at + 1)) {
      const std::string flag = help.substr(at + 3, help.find_first_of(" \n", at + 4) - at - 3);
      INFO(flag);
      CHECK(contains(bash, flag));
      CHECK(contains(fish, " -l " + flag.substr(2) + " "));
      CHECK(contains(zsh, "'*" + flag));
    }
  }
}
