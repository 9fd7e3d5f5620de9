// A small configuration with keys of every kind, for the tests of what a configuration is made of.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/config/config.h"

namespace bloomring::testing {

enum class Unit { kDay, kWeek };

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
inline std::string message_of(const std::string& text) {
  Sample sample;
  const Status status = sample.load_text(text);
  CHECK((status.ok() || status.code() == Code::kInvalid));
  std::string message = status.message();
  for (size_t at; (at = message.find(sample.path)) != std::string::npos;) message.replace(at, sample.path.size(), "F");
  return message;
}

}  // namespace bloomring::testing
