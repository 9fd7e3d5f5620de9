#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;
using Json = nlohmann::json;

TEST_CASE("cli: version prints the build, and each library with the version built with and the one loaded") {
  const Json json = Json::parse(run({"version"}).out);
  CHECK(json["version"] == BLOOMRING_VERSION);
  CHECK(std::regex_match(std::string(json["commit"]), std::regex("[0-9a-f]{7,40}|unknown")));
  CHECK(std::regex_match(std::string(json["compiler"]), std::regex("(GNU|Clang) [0-9.]+")));
  CHECK((json["build_type"] == "Release" || json["build_type"] == "Debug"));
  CHECK(json["fault_points"] == true);  // Tests are of builds that have them.
  const std::string text = run({"version", "--output", "text"}).out;
  CHECK(contains(text, "bloomring     " BLOOMRING_VERSION "\n"));
  size_t asked = 0;
  for (const Json& row : json["libraries"]) {
    const std::string name = row["library"];
    INFO(name);
    CHECK(contains(text, "\n" + name + " "));
    if (!row["file"].is_null()) CHECK(std::string(row["file"]).starts_with(name + ".so"));
    if (row["loaded"].is_null()) continue;
    ++asked;
    CHECK(row["loaded"] == row["built_with"]);  // On the machine of the build.
    CHECK_FALSE(row["file"].is_null());
  }
  CHECK(asked == 4);
}
