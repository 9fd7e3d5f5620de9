#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;
using Json = nlohmann::json;

TEST_CASE("cli: the topology is printed as JSON, text and picture, each with every stage and the topics that it has") {
  const auto json = nlohmann::json::parse(run({"topology", "--output", "json"}).out);
  const std::string text = run({"topology", "--output", "text"}).out;
  const std::string picture = run({"topology", "--output", "mermaid"}).out;
  REQUIRE(json["stages"].size() == 4);
  CHECK(contains(text, "  watches      the groups of merge\n"));
  REQUIRE(json["topics"].size() == 4);
  for (const auto& topic : json["topics"]) {
    const std::string name = topic["topic"];
    CHECK(contains(picture, "\n  " + name + "[(" + name + ")]\n"));
  }
  for (const auto& stage : json["stages"]) {
    const std::string name = stage["stage"];
    INFO(name);
    CHECK(contains("\n" + text, "\n" + name + ": " + std::string(stage["purpose"])));
    for (const std::string topic : stage["reads"]) CHECK(contains(picture, "\n  " + topic + " --> " + name + "\n"));
    for (const std::string topic : stage["writes"]) CHECK(contains(picture, "\n  " + name + " --> " + topic + "\n"));
    CHECK(contains(text, "  group        <kafka.group_prefix>-" + name + "\n") == stage["in_group"]);
    CHECK(stage["in_group"] == (name != "serve"));
    CHECK(stage["watches"] == (name == "window" ? Json::array({"merge"}) : Json::array()));
    CHECK(contains(picture, "\n  " + name + " --> store\n") == (stage["filter_store"] == "writes"));
    CHECK(contains(picture, "\n  store -.-> " + name + "\n") == (stage["filter_store"] == "reads"));
  }
}
