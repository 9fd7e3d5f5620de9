#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: the rights in Kafka are printed as JSON, as commands and as Strimzi objects, and all say the same") {
  const std::vector<std::string> site = {"acls", "--set", "kafka.bootstrap=broker:9092", "--set", "topics.plays=views",
                                         "--user", "site-{stage}", "--output"};
  const auto printed = [&](const std::string& format) {
    std::vector<std::string> arguments = site;
    arguments.push_back(format);
    return run(arguments).out;
  };
  const auto json = nlohmann::json::parse(printed("json"));
  const std::string commands = printed("commands"), objects = printed("strimzi");
  REQUIRE(json["stages"].size() == 4);
  auto users = json["stages"];
  users.push_back(json["jobs"]);
  users.back()["stage"] = "jobs";
  for (const auto& stage : users) {
    const std::string user = stage["user"], name = stage["stage"];
    REQUIRE_FALSE(stage["rights"].empty());
    CHECK(user == "site-" + name);
    CHECK(contains(objects, "kind: KafkaUser\nmetadata:\n  name: " + user + "\n"));
    for (const auto& right : stage["rights"]) {
      const std::string resource = right["resource"], on = right["name"];
      std::string flags, list;
      for (const std::string operation : right["operations"]) {
        flags += " --operation " + operation;
        list += (list.empty() ? "" : ", ") + operation;
      }
      INFO(user + " " + on);
      CHECK(contains(commands, "kafka-acls.sh --bootstrap-server broker:9092 --add --allow-principal 'User:" + user +
                                   "'" + flags + " --" + resource + " '" + on + "'\n"));
      const std::string object = "{type: " + resource + ", name: " + on + ", patternType: literal}\n";
      CHECK(contains(objects, object + "        operations: [" + list + "]\n"));
    }
  }
}
