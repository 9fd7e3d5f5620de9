// A command line that is refused.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/run_binary.h"

namespace bloomring::testing {

// The first line of the message, without "bloomring: ". Checks that the command line ends with 2, writes no result and
// says where the help is.
inline std::string refusal_of(std::vector<std::string> arguments) {
  const Outcome outcome = run(std::move(arguments));
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "--help` shows what there is\n"));
  const std::string first = outcome.err.substr(0, outcome.err.find('\n'));
  CHECK(first.starts_with("bloomring: "));
  return first.substr(std::string("bloomring: ").size());
}

}  // namespace bloomring::testing
