#include "base/config/config.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/config/config_text.h"

using namespace bloomring;

namespace {

enum class Unit { kDay, kWeek };

// A small set of keys of every kind.
struct Sample {
  Config config;
  int slots = 6;
  double spread = 0.5;
  bool drop = true;
  std::string name = "n";
  std::string password;
  Unit unit = Unit::kDay;
  std::vector<std::string> topics = {"plays"};
  std::vector<Unit> units = {Unit::kDay};
  std::vector<std::string> peers;
  std::map<std::string, std::string> properties = {{"client.id", "x"}};

  Sample() {
    config.section("", "Alone.");
    config.string("name", &name).doc("A name.");
    config.section("ring", "The ring.");
    config.integer("ring.slots", &slots).range(3, 64).unit("slots").doc("Slots.");
    config.real("ring.drain_spread", &spread).real_range(0, 0.9).doc("Spread.");
    config.boolean("ring.drop", &drop).doc("Drop.");
    config.choice<Unit>("ring.unit", &unit, {{"day", Unit::kDay}, {"week", Unit::kWeek}}).doc("Unit.");
    config.section("kafka", "Brokers.");
    config.list("kafka.topics", &topics)
        .check([](const std::string& t) { return t.empty() || t[0] == '!' ? std::string("must be a topic") : ""; })
        .doc("Topics.");
    config.choices<Unit>("kafka.units", &units, {{"day", Unit::kDay}, {"week", Unit::kWeek}}).doc("Units.");
    config.list("kafka.peers", &peers).doc("Peers.");
    config.string("kafka.password", &password).secret().doc("Secret.");
    config.map("kafka.properties", &properties).doc("As they are.");
  }

  Status load(ConfigSources sources) { return config.load(sources); }
  Status load_text(const std::string& text) { return load({.path = file(text)}); }

  std::string file(const std::string& text) {
    path = (std::filesystem::temp_directory_path() / ("config_test_" + std::to_string(getpid()) + ".yaml")).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  ~Sample() {
    if (!path.empty()) std::remove(path.c_str());
  }
  std::string path;
};

// The message with the file's name cut to "F".
std::string message_of(const std::string& text) {
  Sample sample;
  const Status status = sample.load_text(text);
  CHECK((status.ok() || status.code() == Code::kInvalid));
  std::string message = status.message();
  for (size_t at; (at = message.find(sample.path)) != std::string::npos;) message.replace(at, sample.path.size(), "F");
  return message;
}

}  // namespace

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

TEST_CASE("config: an empty file and a file of comments change nothing") {
  Sample s;
  CHECK(s.load_text("").ok());
  CHECK(s.load_text("# nothing\n").ok());
}

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

TEST_CASE("config: a list may be empty only if it is by default") {
  Sample sample;
  sample.peers = {"a"};
  CHECK(sample.load_text("kafka: {peers: []}\n").ok());
  CHECK(sample.peers.empty());
}

TEST_CASE("config: a list in the environment is separated by commas or written as YAML") {
  for (const char* text : {"a,b", "[a, b]", "[\"a\",\"b\"]"}) {
    Sample s;
    REQUIRE(s.load({.environment = {{"BLOOMRING_KAFKA_TOPICS", text}}}).ok());
    CHECK(s.topics == std::vector<std::string>{"a", "b"});
  }
}

TEST_CASE("config: an unknown key is refused with its line and the nearest known key") {
  CHECK(message_of("name: a\nring:\n  slot: 7\n") == "F:3: unknown key ring.slot; did you mean ring.slots?");
  CHECK(message_of("rnig: {slots: 7}\n") == "F:1: unknown key rnig; did you mean ring?");
  CHECK(message_of("\nslots: 7\n") == "F:2: unknown key slots; did you mean ring.slots?");
  CHECK(message_of("kafka:\n  proprieties: {a: {b: 1}}\n") ==
        "F:2: unknown key kafka.proprieties; did you mean kafka.properties?");
  CHECK(message_of("qqqqqqqqqq: 7\n") == "F:1: unknown key qqqqqqqqqq; `bloomring reference config` lists the keys");
}

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

TEST_CASE("config: what is not one YAML map is refused with the line") {
  CHECK(message_of("ring:\n  slots: [1\n").substr(0, 13) == "F:2: not YAML");
  CHECK(message_of("kafka:\n  topics: [a, b\nring:\n  slots: 5\n").substr(0, 13) == "F:2: not YAML");
  CHECK(message_of("ring:\n  # slots\n  slots 5\n\n  unit: week\n").substr(0, 13) == "F:3: not YAML");
  const std::string quote = "F:2: not YAML: a quote is opened here and not closed in this line; close it";
  CHECK(message_of("ring:\n  unit: \"week\n  slots: 5\n  slot_seconds: 5\n") == quote);
  CHECK(message_of("ring:\n  unit: 'week\n  slots: 5\n  slot_seconds: '5'\n") == quote);
  CHECK(message_of("ring:\n  unit: \"week\n") == quote);
  CHECK(message_of("ring:\n  unit: it's\n  slots: [1\n").substr(0, 13) == "F:3: not YAML");
  CHECK(message_of("ring\n  slots: 5\n").substr(0, 13) == "F:1: not YAML");
  CHECK(message_of("ring:\n  slots: 5: 6\n").substr(0, 13) == "F:2: not YAML");
  CHECK(message_of("ring:\n\tslots: 1\n") == "F:2: not YAML: a tab indents this line; write blanks instead");
  CHECK(message_of("- a\n") == "F:1: the file must be a YAML map of sections");
  CHECK(message_of("name: a\n---\nname: b\n") == "F:3: a second YAML document; there must be one");
  CHECK(message_of("? [a]\n: b\n") == "F:1: a key must be a word");
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

TEST_CASE("config: a flag sets one entry of a map, whatever dots its name has") {
  Sample s;
  const Status status = s.load({.environment = {{"BLOOMRING_KAFKA_PROPERTIES", "{a: 1, sasl.password: 1}"}},
                                .flags = {{"kafka.properties.sasl.password", "2", "--set"}}});
  CHECK(status.message() == "");
  CHECK(s.properties["a"] == "1");
  CHECK(s.properties["sasl.password"] == "2");
}

TEST_CASE("config: a file that cannot be read is refused with the reason") {
  Sample s;
  CHECK(s.load({.path = "/nonexistent/f.yaml"}).message() ==
        "/nonexistent/f.yaml: cannot be read: No such file or directory");
  CHECK(s.load({.path = "/"}).message() == "/: cannot be read: Is a directory");
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

TEST_CASE("config: properties that hold secrets are known by their names") {
  for (const char* name : {"sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
                           "sasl.oauthbearer.config", "sasl.oauthbearer.client.secret"}) {
    CHECK(looks_secret(name));
  }
  for (const char* name : {"sasl.username", "ssl.key.location", "security.protocol"}) CHECK_FALSE(looks_secret(name));
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
