#include <catch2/catch.hpp>

#include "tests/base/config/sample_config.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("config: secrets are in no message and not in the effective configuration") {
  Sample s;
  REQUIRE(s.load({.environment = {{"BLOOMRING_KAFKA_PASSWORD", "hunter2"},
                                  {"BLOOMRING_KAFKA_PROPERTIES", "{ssl.key.password: hunter2, sasl.username: bob}"}}})
              .ok());
  const std::string yaml = s.config.effective_yaml();
  CHECK(yaml.find("hunter2") == std::string::npos);
  CHECK(yaml.find("  password: \"***\"  # BLOOMRING_KAFKA_PASSWORD\n") != std::string::npos);
  CHECK(yaml.find("    ssl.key.password: \"***\"  # BLOOMRING_KAFKA_PROPERTIES\n") != std::string::npos);
  CHECK(yaml.find("    sasl.username: bob  # BLOOMRING_KAFKA_PROPERTIES\n") != std::string::npos);
  CHECK(message_of("kafka: {password: [hunter2]}\n") ==
        "F:1: kafka.password has a value of the wrong kind; it must be a string");
  CHECK(message_of("kafka: {properties: hunter2}\n").find("hunter2") == std::string::npos);
}

TEST_CASE("config: the effective configuration can be loaded again and says where values came from") {
  Sample first;
  REQUIRE(
      first.load_text("name: \"a: #b\"\nring: {slots: 7}\nkafka: {topics: [x, 'y, z'], properties: {a.b: 'c # d'}}\n")
          .ok());
  const std::string yaml = first.config.effective_yaml();
  CHECK(yaml.find("  slots: 7  # " + first.path + ":2\n") != std::string::npos);
  CHECK(yaml.find("  drain_spread: 0.5  # default\n") != std::string::npos);
  Sample second;
  REQUIRE(second.load_text(yaml).message() == "");
  CHECK(second.name == "a: #b");
  CHECK(second.slots == 7);
  CHECK(second.topics == first.topics);
  CHECK(second.properties == first.properties);
}

TEST_CASE("config: the reference is made from the declarations") {
  Sample s;
  const std::string page = s.config.reference_markdown();
  CHECK(page.find("## ring\n\nThe ring.\n") != std::string::npos);
  CHECK(page.find("| `ring.slots` | integer in [3, 64], slots | `6` | `BLOOMRING_RING_SLOTS` | 0.1 | Slots. |\n") !=
        std::string::npos);
  for (const ConfigKey& key : s.config.keys()) CHECK(page.find("| `" + key.name() + "` |") != std::string::npos);
  REQUIRE(s.load({.flags = {{"ring.slots", "9", "--x"}}}).ok());
  CHECK(s.config.reference_markdown() == page);
}
