#include <catch2/catch.hpp>
#include <map>

#include "base/config/config.h"
#include "tests/base/config/sample_config.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("config: flags go over the environment, the environment over the file, the file over defaults") {
  Sample s;
  const std::string path = s.file("name: file\nring: {slots: 10, drain_spread: 0.1, unit: week}\n");
  const Status status = s.load({.path = path,
                                .environment = {{"BLOOMRING_RING_SLOTS", "20"}, {"BLOOMRING_RING_DRAIN_SPREAD", "0.2"}},
                                .flags = {{"ring.slots", "30", "--slots"}}});
  REQUIRE(status.message() == "");
  CHECK(s.slots == 30);
  CHECK(s.spread == 0.2);
  CHECK(s.unit == Unit::kWeek);
  CHECK(s.drop);
  CHECK(s.config.origin("ring.slots") == "--slots");
  CHECK(s.config.origin("ring.drain_spread") == "BLOOMRING_RING_DRAIN_SPREAD");
  CHECK(s.config.origin("ring.unit") == path + ":2");
}

TEST_CASE("config: maps merge entry by entry over file, environment and flags") {
  Sample s;
  const std::string path = s.file("kafka:\n  properties:\n    a: file\n    b: file\n    c: file\n");
  const Status status = s.load({.path = path,
                                .environment = {{"BLOOMRING_KAFKA_PROPERTIES", "{b: env, \"c\": \"env\"}"},
                                                {"BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD", "a: {b"}},
                                .flags = {{"kafka.properties", "{c: flag}", "--set"}}});
  REQUIRE(status.message() == "");
  CHECK(s.properties ==
        std::map<std::string, std::string>{
            {"client.id", "x"}, {"a", "file"}, {"b", "env"}, {"c", "flag"}, {"sasl.password", "a: {b"}});
}

TEST_CASE("config: an empty map clears the default and what the sources below have set") {
  Sample s;
  const std::string path = s.file("kafka:\n  properties: {}\n");
  REQUIRE(s.load({.path = path}).message() == "");
  CHECK(s.properties.empty());
  Sample over;
  const Status status = over.load({.path = over.file("kafka:\n  properties:\n    a: file\n"),
                                   .environment = {{"BLOOMRING_KAFKA_PROPERTIES", "{}"},
                                                   {"BLOOMRING_KAFKA_PROPERTIES_B", "env"}},
                                   .flags = {{"kafka.properties", "{c: flag}", "--set"}}});
  REQUIRE(status.message() == "");
  CHECK(over.properties == std::map<std::string, std::string>{{"b", "env"}, {"c", "flag"}});
  CHECK(over.config.effective_yaml().find("a: file") == std::string::npos);
}

TEST_CASE("config: a list in the environment is separated by commas or written as YAML") {
  for (const char* text : {"a,b", "[a, b]", "[\"a\",\"b\"]"}) {
    Sample s;
    REQUIRE(s.load({.environment = {{"BLOOMRING_KAFKA_TOPICS", text}}}).ok());
    CHECK(s.topics == std::vector<std::string>{"a", "b"});
  }
}

TEST_CASE("config: a flag sets one entry of a map, whatever dots its name has") {
  Sample s;
  const Status status = s.load({.environment = {{"BLOOMRING_KAFKA_PROPERTIES", "{a: 1, sasl.password: 1}"}},
                                .flags = {{"kafka.properties.sasl.username", "2", "--set"}}});
  CHECK(status.message() == "");
  CHECK(s.properties["a"] == "1");
  CHECK(s.properties["sasl.password"] == "1");
  CHECK(s.properties["sasl.username"] == "2");
}

TEST_CASE("config: errors in the environment and in flags name the variable and the flag") {
  Sample s;
  CHECK(s.load({.environment = {{"BLOOMRING_RING_SLOTS", "x"}}}).message() ==
        "BLOOMRING_RING_SLOTS: ring.slots is x; it must be an integer in [3, 64]");
  CHECK(s.load({.flags = {{"ring.slots", "", "--slots"}}}).message() ==
        "--slots: ring.slots is \"\"; it must be an integer in [3, 64]");
  CHECK(s.load({.flags = {{"ring.slotz", "1", "--set"}}}).message() ==
        "--set: unknown key ring.slotz; did you mean ring.slots?");
  CHECK(s.load({.flags = {{"kafka.propertiez.a", "1", "--set"}}}).message().substr(0, 40) ==
        "--set: unknown key kafka.propertiez.a; d");
  CHECK(s.load({.flags = {{"ring", "1", "--set"}}}).message() == "--set: ring is a section; it must be a map of keys");
  CHECK(s.load({.environment = {{"BLOOMRING_KAFKA_PROPERTIES", "{a"}}}).message().substr(0, 54) ==
        "BLOOMRING_KAFKA_PROPERTIES: kafka.properties: not YAML");
}

TEST_CASE("config: an unknown variable is a warning only when it is one slip away from a key") {
  Sample s;
  REQUIRE(s.load({.environment = {{"BLOOMRING_PORT", "tcp://10.0.0.1:7700"}, {"BLOOMRING_RNIG_SLOTS", "3"}}}).ok());
  CHECK(s.config.warnings() ==
        std::vector<std::string>{
            "BLOOMRING_RNIG_SLOTS is not a configuration variable; did you mean BLOOMRING_RING_SLOTS?"});
}

TEST_CASE("config: a secret on the command line is refused, and its value is not repeated") {
  const std::string ways =
      " is a secret, and other users of this host see it in the list of processes; write it into the configuration "
      "file, set BLOOMRING_KAFKA_PASSWORD, or name a file that holds it in BLOOMRING_KAFKA_PASSWORD_FILE";
  CHECK(Sample().load({.flags = {{"kafka.password", "hunter2", "--set kafka.password"}}}).message() ==
        "--set kafka.password: kafka.password" + ways);
  for (const ConfigFlag& flag : {ConfigFlag{"kafka.properties.sasl.password", "hunter2", "--set"},
                                 ConfigFlag{"kafka.properties", "{a: 1, sasl.password: hunter2}", "--set"}}) {
    const std::string message = Sample().load({.flags = {flag}}).message();
    CHECK(message.starts_with("--set: kafka.properties sasl.password is a secret"));
    CHECK(message.ends_with("BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD_FILE"));
    CHECK(message.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("config: a secret comes from the file that its variable with _FILE names") {
  Sample s;
  const std::string path = s.file("hunter2\n");
  REQUIRE(s.load({.environment = {{"BLOOMRING_KAFKA_PASSWORD_FILE", path},
                                  {"BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD_FILE", path}}})
              .message() == "");
  CHECK(s.password == "hunter2");
  CHECK(s.properties["sasl.password"] == "hunter2");
  CHECK_FALSE(s.properties.contains("sasl.password.file"));
  CHECK(s.config.effective_yaml().find("hunter2") == std::string::npos);
}

TEST_CASE("config: a _FILE variable is an error without its file, or next to the variable itself") {
  CHECK(Sample().load({.environment = {{"BLOOMRING_KAFKA_PASSWORD_FILE", "/nonexistent/p"}}}).message() ==
        "BLOOMRING_KAFKA_PASSWORD_FILE: /nonexistent/p: cannot be read: No such file or directory");
  Sample s;
  const std::string path = s.file("hunter2");
  CHECK(s.load({.environment = {{"BLOOMRING_KAFKA_PASSWORD", "x"}, {"BLOOMRING_KAFKA_PASSWORD_FILE", path}}})
            .message() ==
        "BLOOMRING_KAFKA_PASSWORD and BLOOMRING_KAFKA_PASSWORD_FILE are both set; unset one of them");
}

TEST_CASE("config: only secrets have a _FILE variable") {
  Sample s;
  REQUIRE(s.load({.environment = {{"BLOOMRING_NAME_FILE", "/etc/hostname"},
                                  {"BLOOMRING_KAFKA_PROPERTIES_SSL_CA_FILE", "/ca"}}})
              .message() == "");
  CHECK(s.name == "n");
  CHECK(s.properties["ssl.ca.file"] == "/ca");
}

TEST_CASE("config: a file with a secret that others may read is warned of, one without is not") {
  const auto warnings = [](const std::string& text, unsigned mode) {
    Sample s;
    const std::string path = s.file(text);
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
    REQUIRE(s.load({.path = path}).message() == "");
    return s.config.warnings();
  };
  const std::string secret = "kafka:\n  properties:\n    sasl.password: x\n";
  CHECK(warnings(secret, 0600).empty());
  CHECK(warnings("kafka:\n  properties:\n    sasl.username: x\n", 0644).empty());
  REQUIRE(warnings(secret, 0644).size() == 1);
  CHECK(warnings(secret, 0644).front().find(
            " holds kafka.properties sasl.password and has mode 0644: other users of this host may read it; chmod 600 "
            ) != std::string::npos);
}
