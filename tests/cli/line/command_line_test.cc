#include <catch2/catch.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: a command line that is wrong exits with 2 and names the nearest right word") {
  const auto refused = [](std::vector<std::string> arguments, const std::string& first_line) {
    const Outcome outcome = run(std::move(arguments));
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out == "");
    CHECK(outcome.err.substr(0, outcome.err.find('\n')) == "bloomring: " + first_line);
    CHECK(contains(outcome.err, "--help` shows what there is\n"));
  };
  refused({}, "a command is missing");
  refused({"qurey"}, "unknown command qurey; did you mean query?");
  refused({"delete"}, "unknown command delete");
  refused({"--verison"}, "unknown flag --verison; did you mean --version?");
  refused({"run", "--confg", "x"}, "unknown flag --confg; did you mean --config?");
  refused({"query", "--usr", "u1", "v1"}, "unknown flag --usr; did you mean --user?");
  refused({"query", "v1"}, "--user is required");
  refused({"run", "extra"}, "unknown argument extra");
  refused({"reference"}, "what is required");
  refused({"reference", "cofnig"},
          "what: cofnig must be one of commands, config, metrics, topics; did you mean config?");
  refused({"check", "--output", "xml"}, "--output: xml must be one of json, text");
  refused({"generate", "--bootstrap", "127.0.0.1:1"}, "--bootstrap requires --topic");
  refused({"generate", "--execute"}, "--topic or --to, which --execute writes to, is required");
  refused({"snapshot"}, "--user or --from is required");
  for (const char* command : {"query", "served", "forget", "snapshot", "inspect"}) {
    refused({command, "--user", ""}, "--user: the id is empty; an id has 1 to 128 bytes");
    refused({command, "--user", std::string(129, 'u')}, "--user: the id has 129 bytes; an id has 1 to 128 bytes");
  }
  refused({"query", "--user", "u1", "--tls-cert", "c.pem", "v1"}, "--tls-cert requires --tls-ca");
  refused({"load", "--candidates-max", "20001"}, "--candidates-max: Value 20001 not in range 1 to 20000");
  refused({"query", "--user", "u1", "--server", "127.0.0.1", "v1"},
          "--server: 127.0.0.1 must be HOST:PORT, as 127.0.0.1:7700");
  refused({"query", "--user", "u1", "--server", "a:7700,b", "v1"}, "--server: b must be HOST:PORT, as b:7700");
  refused({"dev", "--slot-seconds", "0"}, "--slot-seconds: Value 0 not in range 1 to 86400");
}
