#include <catch2/catch.hpp>
#include <map>

#include "tests/base/config/sample_config.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("config: a value of the wrong type or out of range is refused with its line and what is allowed") {
  CHECK(message_of("ring:\n  slots: 2\n") == "F:2: ring.slots is 2; it must be an integer in [3, 64]");
  CHECK(message_of("ring:\n  slots: 65\n") == "F:2: ring.slots is 65; it must be an integer in [3, 64]");
  CHECK(message_of("ring: {slots: six}\n") == "F:1: ring.slots is six; it must be an integer in [3, 64]");
  CHECK(message_of("ring: {slots: 6.5}\n") == "F:1: ring.slots is 6.5; it must be an integer in [3, 64]");
  CHECK(message_of("ring: {slots: \"6\"}\n") ==
        "F:1: ring.slots is 6; it must be an integer in [3, 64], without quotation marks");
  CHECK(message_of("ring: {slots: [6]}\n") == "F:1: ring.slots is [6]; it must be an integer in [3, 64]");
  CHECK(message_of("ring: {slots: [[6]]}\n") == "F:1: ring.slots is nested too deep; it must be an integer in [3, 64]");
  CHECK(message_of("ring:\n  slots:\n") == "F:2: ring.slots has no value; it must be an integer in [3, 64]");
  CHECK(message_of("ring: {slots: 99999999999999999999}\n") ==
        "F:1: ring.slots is 99999999999999999999; it must be an integer in [3, 64]");
  CHECK(message_of("ring: {drain_spread: 1}\n") == "F:1: ring.drain_spread is 1; it must be a number in [0, 0.9]");
  CHECK(message_of("ring: {drain_spread: nan}\n") == "F:1: ring.drain_spread is nan; it must be a number in [0, 0.9]");
  CHECK(message_of("ring: {drop: yes}\n") == "F:1: ring.drop is yes; it must be true or false");
  CHECK(message_of("ring: {unit: year}\n") == "F:1: ring.unit is year; it must be one of day, week");
  CHECK(message_of("kafka: {topics: []}\n") ==
        "F:1: kafka.topics is []; it must be a string or a list of strings, not empty");
  CHECK(message_of("kafka: {topics: [a, \"!\"]}\n") == "F:1: kafka.topics is [a, \"!\"]; it must be a topic");
  CHECK(message_of("kafka: {units: [day, year]}\n") ==
        "F:1: kafka.units is [day, year]; it must be one or a list of day, week");
  CHECK(message_of("kafka: {properties: 3}\n") ==
        "F:1: kafka.properties has a value of the wrong kind; it must be a map of names to strings");
  CHECK(message_of("kafka: {properties: {a: {b: 1}}}\n") ==
        "F:1: kafka.properties is nested too deep; it must be a map of names to strings");
  CHECK(message_of("ring: 3\n") == "F:1: ring is a section; it must be a map of keys");
}

TEST_CASE("config: sizes are bytes or have a suffix, are printed with one, and a size that is none is refused") {
  const auto load = [](const std::string& text, uint64_t& limit) {
    Config config;
    config.section("memory", "Memory.");
    config.bytes("memory.limit", &limit).range(1024, int64_t{1} << 40).doc("Limit.");
    const Status status = config.load({.flags = {{"memory.limit", text, "--set"}}});
    return status.ok() ? config.effective_yaml() : status.message();
  };
  uint64_t limit = 0;
  const auto sizes = std::map<std::string, uint64_t>{
      {"4096", 4096},      {"2GiB", 2ull << 30}, {"1.5 GiB", 3ull << 29}, {"512MiB", 512 << 20},
      {"512M", 512 << 20}, {"64KiB", 64 << 10},  {"500MB", 500'000'000},  {"2kB", 2000}};
  for (const auto& [text, bytes] : sizes) {
    INFO(text);
    load(text, limit);
    CHECK(limit == bytes);
  }
  CHECK_THAT(load("1536MiB", limit), Catch::Contains("limit: 1536MiB  # --set"));
  CHECK_THAT(load("2048", limit), Catch::Contains("limit: 2KiB"));
  for (const char* wrong : {"lots", "-1", "5 XB", "1", "GiB", "nan", "1e300", ""}) {
    INFO(wrong);
    CHECK_THAT(load(wrong, limit), Catch::Contains("must be "));
  }
  CHECK_THAT(load("5 XB", limit), Catch::EndsWith("it must be a number of bytes, as 512MiB or 2GiB"));
  CHECK_THAT(load("1", limit), Catch::EndsWith("it must be at least 1KiB and at most 1024GiB"));
}

TEST_CASE("config: properties that hold secrets are known by their names") {
  for (const char* name : {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
                           "sasl.oauthbearer.config", "sasl.oauthbearer.client.secret",
                           "sasl.oauthbearer.assertion.private.key.passphrase"}) {
    CHECK(looks_secret(name));
  }
  for (const char* name : {"sasl.username", "ssl.key.location", "security.protocol"}) CHECK_FALSE(looks_secret(name));
}

TEST_CASE("config: an integer may be left to the program by a word, which later sources replace") {
  const auto load = [](const std::vector<ConfigFlag>& flags, int& index) {
    Config config;
    config.section("serve", "Serve.");
    config.integer("serve.index", &index).range(0, 9).or_word("ordinal").doc("Index.");
    const Status status = config.load({.flags = flags});
    if (!status.ok()) return status.message();
    const bool asked = config.asks("serve.index");
    if (asked) CHECK_THAT(config.effective_yaml(), Catch::Contains("index: ordinal  # --a"));
    const Status followed = asked ? config.follow("serve.index", "7", "--a") : Status();
    CHECK_FALSE(config.asks("serve.index"));
    return followed.ok() ? config.effective_yaml() : followed.message();
  };
  int index = 1;
  CHECK_THAT(load({{"serve.index", "ordinal", "--a"}}, index), Catch::Contains("index: 7  # --a"));
  CHECK(index == 7);
  CHECK_THAT(load({{"serve.index", "ordinal", "--a"}, {"serve.index", "3", "--b"}}, index),
             Catch::Contains("index: 3  # --b"));
  CHECK_THAT(load({{"serve.index", "3", "--a"}, {"serve.index", "ordinal", "--a"}}, index),
             Catch::Contains("index: 7  # --a"));
  CHECK(load({{"serve.index", "ordinals", "--a"}}, index) ==
        "--a: serve.index is ordinals; it must be an integer in [0, 9] or ordinal");
}
