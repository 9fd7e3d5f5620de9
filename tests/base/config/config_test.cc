#include "base/config/config.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/config/config_text.h"
#include "tests/base/config/sample_config.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("config: without sources everything has its default") {
  Sample s;
  REQUIRE(s.load({}).ok());
  CHECK(s.slots == 6);
  CHECK(s.topics == std::vector<std::string>{"plays"});
  CHECK(s.config.origin("ring.slots") == "default");
}

TEST_CASE("config: a file sets every kind of value") {
  Sample s;
  const Status status = s.load_text(
      "name: me\nring:\n  slots: 7\n  drain_spread: 0.25\n  drop: false\n  unit: week\n"
      "kafka:\n  topics: [a, b]\n  units: [week, day]\n  properties: {security.protocol: SASL_SSL}\n");
  REQUIRE(status.message() == "");
  CHECK(s.name == "me");
  CHECK(s.slots == 7);
  CHECK(s.spread == 0.25);
  CHECK_FALSE(s.drop);
  CHECK(s.unit == Unit::kWeek);
  CHECK(s.topics == std::vector<std::string>{"a", "b"});
  CHECK(s.units == std::vector<Unit>{Unit::kWeek, Unit::kDay});
  CHECK(s.properties == std::map<std::string, std::string>{{"client.id", "x"}, {"security.protocol", "SASL_SSL"}});
  CHECK(s.config.origin("ring.slots") == s.path + ":3");
}

TEST_CASE("config: dotted keys, an empty section and a lone string for a list are fine") {
  Sample s;
  REQUIRE(s.load_text("ring.slots: 9\nring:\nkafka: {topics: one}\n").message() == "");
  CHECK(s.slots == 9);
  CHECK(s.topics == std::vector<std::string>{"one"});
}

TEST_CASE("config: a section may lie in another one") {
  Sample s;
  std::string host;
  int port = 1;
  s.config.section("kafka.proxy", "Between us and the brokers.");
  s.config.string("kafka.proxy.host", &host).doc("Its name.");
  s.config.integer("kafka.proxy.port", &port).range(1, 9).doc("Its port.");
  REQUIRE(s.load_text("kafka:\n  topics: one\n  proxy:\n    host: p\n    port: 7\n").message() == "");
  CHECK(host == "p");
  CHECK(port == 7);
  CHECK(s.topics == std::vector<std::string>{"one"});
  CHECK_THAT(s.config.effective_yaml(), Catch::Contains("kafka.proxy:\n  host: p"));
  CHECK_THAT(s.config.reference_markdown(), Catch::Contains("`kafka.proxy.host`"));
  // The printed text is read back.
  const std::string printed = s.config.effective_yaml();
  host.clear();
  REQUIRE(s.load_text(printed).message() == "");
  CHECK(host == "p");
}

TEST_CASE("config: an empty file and a file of comments change nothing") {
  Sample s;
  CHECK(s.load_text("").ok());
  CHECK(s.load_text("# nothing\n").ok());
}

TEST_CASE("config: a list may be empty only if it is by default") {
  Sample sample;
  sample.peers = {"a"};
  CHECK(sample.load_text("kafka: {peers: []}\n").ok());
  CHECK(sample.peers.empty());
}

TEST_CASE("config: an unknown key is refused with its line and the nearest known key") {
  CHECK(message_of("name: a\nring:\n  slot: 7\n") == "F:3: unknown key ring.slot; did you mean ring.slots?");
  CHECK(message_of("rnig: {slots: 7}\n") == "F:1: unknown key rnig; did you mean ring?");
  CHECK(message_of("\nslots: 7\n") == "F:2: unknown key slots; did you mean ring.slots?");
  CHECK(message_of("kafka:\n  proprieties: {a: {b: 1}}\n") ==
        "F:2: unknown key kafka.proprieties; did you mean kafka.properties?");
  CHECK(message_of("qqqqqqqqqq: 7\n") == "F:1: unknown key qqqqqqqqqq; `bloomring reference config` lists the keys");
}

TEST_CASE("config: a key that is set twice is refused with both lines") {
  CHECK(message_of("ring:\n  slots: 7\n  slots: 8\n") == "F:3: ring.slots is already set in line 2");
  CHECK(message_of("ring:\n  slots: 7\nring.slots: 8\n") == "F:3: ring.slots is already set in line 2");
  CHECK(message_of("ring: {slots: 7}\nkafka:\nring: {slots: 8}\n") == "F:3: ring.slots is already set in line 1");
}

TEST_CASE("config: an entry that is set twice in a map is refused") {
  CHECK(message_of("kafka:\n  properties:\n    a: 1\n    a: 2\n") == "F:2: kafka.properties has a twice");
}

TEST_CASE("config: all that is wrong is said at once") {
  CHECK(message_of("ring:\n  slots: 2\n  slot: 3\n") ==
        "F:2: ring.slots is 2; it must be an integer in [3, 64]\nF:3: unknown key ring.slot; did you mean ring.slots?");
}

TEST_CASE("config: a variable that nothing has replaced is refused, with the one of the environment to set") {
  CHECK(message_of("name: ${NAME}\n") == "F:1: name holds ${NAME}, and variables are not replaced in values; write the "
                                         "value itself, or set BLOOMRING_NAME in the environment");
  CHECK(message_of("kafka:\n  topics: [a, \"x${B}\"]\n").find("F:2: kafka.topics holds ${B}, ") == 0);
  CHECK(message_of("kafka:\n  properties:\n    sasl.password: ${PASSWORD}\n")
            .find("set BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD in") != std::string::npos);
  for (const char* fine : {"name: $NAME\n", "name: \"{index}\"\n", "name: ${\n", "name: \"${}\"\n",
                           "name: \"${a b}\"\n",
                           "kafka:\n  properties:\n    sasl.password: a${b}c\n"}) {
    INFO(fine);
    CHECK(message_of(fine) == "");
  }
}

TEST_CASE("config: a string that is written as YAML is read back as the same string") {
  const auto is_section = [](std::string_view) { return false; };
  for (const std::string value :
       {"...", "... a", "...a", "---", "--- a", "---a", "%a", "%YAML 1.2", "@a", "`a", "", " ", " a", "a ", "a: b",
        "a:", "#x", "a #x", "a#x", "null", "Null", "~", "true", "no", "1e3", "07", ".5", "!a", "&a", "*a", "|", ">",
        "- a", "-", "? a", "?", ", a", "[a", "{a", "]", "}", "'a", "\"a", "a\"b\\c", "a\nb", "a\n", "\n",
        "a\n...\nb", "a\r\nb", "\t", "a\tb", "a\x01" "b", "\x1b[0m", "\x7f", "\u00e9", "\u0085", "\u2028",
        "\ufeff" "a", "\U0001f600"}) {
    const std::string written = yaml_scalar(ConfigText::of(value));
    INFO("written as " << written);
    CHECK(written.find('\n') == std::string::npos);
    const auto alone = read_config_value(written);
    REQUIRE(alone.ok());
    CHECK(alone->kind == ConfigText::Kind::kScalar);
    CHECK(alone->scalar == value);
    const auto list = read_config_value(yaml_scalar(ConfigText::list({value, value})));
    REQUIRE(list.ok());
    CHECK(list->items == std::vector<std::string>{value, value});
    ConfigText map;
    map.kind = ConfigText::Kind::kMap;
    map.entries = {{value, value}};
    const auto read_map = read_config_value(yaml_scalar(map));
    REQUIRE(read_map.ok());
    CHECK(read_map->entries == map.entries);
    // As the value of a key, between others.
    const auto entries = read_config_yaml("a: 1\nkey: " + written + "\nz: 2\n", "F", is_section);
    REQUIRE(entries.ok());
    REQUIRE(entries->size() == 3);
    CHECK((*entries)[1].text.kind == ConfigText::Kind::kScalar);
    CHECK((*entries)[1].text.scalar == value);
  }
}

TEST_CASE("config: a file that cannot be read is refused with the reason") {
  Sample s;
  CHECK(s.load({.path = "/nonexistent/f.yaml"}).message() ==
        "/nonexistent/f.yaml: cannot be read: No such file or directory");
  CHECK(s.load({.path = "/"}).message() == "/: cannot be read: Is a directory");
}
