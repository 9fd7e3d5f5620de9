#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: flags go over the environment, the environment over the file, and each value says where it is from") {
  const Scratch scratch;
  const std::string file =
      scratch.file("ring: {slots: 7, slot_seconds: 70}\nkafka: {properties: {sasl.password: hunter2}}\n");
  const Outcome outcome = scratch.run({"check", "--print", "--config", file, "--set", "ring.drain_spread=0.25"},
                                      {"BLOOMRING_RING_SLOTS=8", "BLOOMRING_RING_DRAIN_SPREAD=0.75"});
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "  slots: 8  # BLOOMRING_RING_SLOTS\n"));
  CHECK(contains(outcome.out, "  slot_seconds: 70  # " + file + ":1\n"));
  CHECK(contains(outcome.out, "  drain_spread: 0.25  # --set ring.drain_spread\n"));
  CHECK(contains(outcome.out, "  level: info  # default\n"));
  CHECK_FALSE(contains(outcome.out, "hunter2"));
}

TEST_CASE("cli: --set takes one KEY=VALUE each time") {
  CHECK(run({"check", "--print", "--set", "ring.slots=9", "--set", "ring.slot_seconds=9"}).exit_code == 0);
  CHECK(run({"check", "--set", "ring.slots"}).err ==
        "bloomring: --set ring.slots: it must be KEY=VALUE, as --set ring.slots=5\n");
  CHECK(run({"check", "--set", "ring.slots=99"}).err ==
        "bloomring: --set ring.slots: ring.slots is 99; it must be an integer in [3, 64]\n");
}

TEST_CASE("cli: --set takes an entry of a map by its name") {
  const Outcome outcome = run({"check", "--print", "--set", "kafka.properties.sasl.username=me"});
  CHECK(outcome.exit_code == 0);
  CHECK(contains(outcome.out, "sasl.username: me"));
}

TEST_CASE("cli: a variable that is one slip away from a key is a warning") {
  const Outcome outcome =
      run({"check", "--offline"}, {"BLOOMRING_RNIG_SLOTS=3", "BLOOMRING_KAFKA_BOOTSTRAP=b:9092"});
  CHECK(outcome.exit_code == 0);
  CHECK(nlohmann::json::parse(outcome.out)["warnings"][0] ==
        "BLOOMRING_RNIG_SLOTS is not a configuration variable; did you mean BLOOMRING_RING_SLOTS?");
}
