#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/run_binary.h"

using namespace bloomring::testing;

TEST_CASE("cli: check says that a configuration is fine, as JSON or text") {
  const Scratch scratch;
  const std::string file = scratch.file("kafka: {bootstrap: \"b:9092\"}\nring: {slots: 8}\n");
  const Outcome json = scratch.run({"check", "--offline", "--config", file});
  CHECK(json.exit_code == 0);
  CHECK(json.err == "");
  const auto verdict = nlohmann::json::parse(json.out);
  CHECK(verdict["ok"] == true);
  CHECK(verdict["file"] == file);
  CHECK(verdict["warnings"].empty());
  CHECK(contains(scratch.run({"check", "--offline", "--config", file, "--output", "text"}).out, "configuration: ok\n"));
}

TEST_CASE("cli: check refuses a wrong configuration with file, line and nearest key, and exits with 2") {
  const Scratch scratch;
  const std::string file = scratch.file("ring:\n  slot_second: 5\n  slots: 2\n");
  const Outcome outcome = scratch.run({"check", "--config", file});
  CHECK(outcome.exit_code == 2);
  const auto verdict = nlohmann::json::parse(outcome.out);
  CHECK(verdict["ok"] == false);
  REQUIRE(verdict["findings"].size() == 2);
  CHECK(verdict["findings"][1] == nlohmann::json({{"severity", "error"},
                                                  {"key", "ring.slots"},
                                                  {"value", "2"},
                                                  {"place", file + ":3"},
                                                  {"reason", "ring.slots is 2"},
                                                  {"way_out", "it must be an integer in [3, 64]"}}));
  CHECK(outcome.err == "bloomring: " + file + ":2: unknown key ring.slot_second; did you mean ring.slot_seconds?\n" +
                           "bloomring: " + file + ":3: ring.slots is 2; it must be an integer in [3, 64]\n");
  CHECK(scratch.run({"check", "--config", "/nonexistent.yaml"}).exit_code == 2);
}

TEST_CASE("cli: check of a configuration without brokers calls nothing of it ok but what is") {
  const Scratch scratch;
  const Outcome json = scratch.run({"check", "--offline"});
  CHECK(json.exit_code == 2);
  const auto verdict = nlohmann::json::parse(json.out);
  CHECK(verdict["ok"] == false);
  REQUIRE(verdict["findings"].size() == 1);
  CHECK(verdict["findings"][0]["key"] == "kafka.bootstrap");
  for (const auto& part : verdict["checked"]) CHECK(part != "configuration");
  CHECK_FALSE(verdict.contains("memory"));
  const Outcome text = scratch.run({"check", "--offline", "--output", "text"});
  CHECK(text.exit_code == 2);
  CHECK(text.out.starts_with("not ok: 1 error, on standard error\n"));
  CHECK_FALSE(contains(text.out, "configuration: ok"));
  CHECK_FALSE(contains(text.out, "memory: "));
  CHECK(contains(text.err, "kafka.bootstrap is not set"));
}

TEST_CASE("cli: check computes whether an hour of filters can be written in an hour, and warns where it cannot") {
  const Scratch scratch;
  const auto check = [&](const std::string& rate) {
    const Outcome outcome = scratch.run({"check", "--offline", "--set", "kafka.bootstrap=b:9092", "--set",
                                         "store.kind=redis", "--set", "store.redis.addresses=a:1", "--set",
                                         "store.plan_users_per_slot=3600000", "--set",
                                         "store.write_bytes_per_second=" + rate});
    CHECK(outcome.exit_code == 0);
    return nlohmann::json::parse(outcome.out);
  };
  // 3.6 million users in 3,600 s: 1,000 filters of 2,048 + 64 bytes a second.
  const auto fits = check("2112000");
  CHECK(fits["warnings"].empty());
  REQUIRE(fits["notes"].size() == 1);
  CHECK(contains(fits["notes"][0], "= 7603200000 bytes, 100 % of it"));
  const auto late = check("2111999");
  CHECK_FALSE(late.contains("notes"));
  REQUIRE(late["findings"].size() == 1);
  CHECK(late["findings"][0]["key"] == "store.write_bytes_per_second");
  CHECK(late["findings"][0]["value"] == "2111999");
  CHECK(contains(late["findings"][0]["way_out"], "set it to at least 2112000"));
}

TEST_CASE("cli: what check prints can be used as a configuration") {
  const Scratch scratch;
  const std::string printed = scratch.run({"check", "--print", "--set", "ring.slots=9"}).out;
  const Outcome again = scratch.run({"check", "--print", "--config", scratch.file(printed)});
  CHECK(again.exit_code == 0);
  CHECK(contains(again.out, "  slots: 9  # "));
}

TEST_CASE("cli: check tells where the memory limit and the index of the replica come from") {
  const Scratch scratch;
  const std::string file = scratch.file(
      "kafka: {bootstrap: \"b:9092\"}\nmemory: {limit: 3GiB}\nserve: {replica_index: ordinal, replica_count: 3}\n");
  const std::vector<std::string> asked = {"check", "--offline", "--config", file};
  const Outcome pod = scratch.run(asked, {"HOSTNAME=bloomring-serve-2"});
  CHECK(pod.exit_code == 0);
  CHECK(nlohmann::json::parse(pod.out)["sources"] ==
        nlohmann::json::array(
            {{{"key", "memory.limit"}, {"value", "3GiB"}, {"source", file + ":2"}},
             {{"key", "serve.replica_index"}, {"value", "2"}, {"source", "ordinal of bloomring-serve-2"}}}));
  std::vector<std::string> as_text = asked;
  as_text.insert(as_text.end(), {"--output", "text"});
  CHECK(contains(scratch.run(as_text, {"HOSTNAME=bloomring-serve-2"}).out,
                 "memory.limit: 3GiB, " + file + ":2\nserve.replica_index: 2, ordinal of bloomring-serve-2\n"));
  const Outcome laptop = scratch.run(asked, {"HOSTNAME=laptop"});
  CHECK(laptop.exit_code == 2);
  CHECK(contains(laptop.err, file + ":3: serve.replica_index is ordinal, and this host is named laptop, "));
}

TEST_CASE("cli: a command that runs no stage takes the configuration of another machine as it stands") {
  const std::vector<std::string> sets = {"--set", "memory.limit=64MiB", "--set", "serve.replica_index=ordinal"};
  std::vector<std::string> acls = {"acls"}, check = {"check", "--offline"};
  acls.insert(acls.end(), sets.begin(), sets.end());
  check.insert(check.end(), sets.begin(), sets.end());
  CHECK(run(acls, {"HOSTNAME=laptop"}).exit_code == 0);
  const Outcome checked = run(check, {"HOSTNAME=laptop"});
  CHECK(checked.exit_code == 2);
  CHECK(contains(checked.err, "memory.limit is 64 MiB; it must be at least "));
  CHECK(contains(checked.err, "this host is named laptop"));
}
