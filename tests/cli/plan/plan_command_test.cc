#include "tests/cli/line/refused.h"

#include <nlohmann/json.hpp>

using namespace bloomring::testing;
using Json = nlohmann::json;

namespace {

Json planned(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  const Outcome outcome = run(std::move(arguments));
  INFO(outcome.err);
  REQUIRE((outcome.exit_code == 0 || outcome.exit_code == 3));
  return Json::parse(outcome.out);
}

double mid(const Json& plan, const std::string& name) {
  for (const Json& row : plan["rows"]) {
    if (row["name"] == name) return row["mid"];
  }
  FAIL("no row " + name);
  return 0;
}

// The message with which `bloomring plan` refuses these arguments.
std::string refused(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  const Outcome outcome = run(std::move(arguments));
  CHECK(outcome.exit_code == 2);
  return outcome.err;
}

}  // namespace

TEST_CASE("cli: a plan takes what the configuration says, and its flags instead of it") {
  const Scratch scratch;
  const std::string config = scratch.file(
      "topics: {partitions: 100}\nfilter: {retention_periods: 9, periods_read: 2}\n"
      "serve: {replication_factor: 2, replica_count: 4}\n");
  const Json of_config = planned({"--config", config});
  CHECK(of_config["input"]["partitions"] == 100);
  CHECK(of_config["input"]["replicas"] == 2);
  CHECK(of_config["input"]["retention_periods"] == 9);
  CHECK(of_config["input"]["periods_read"] == 2);
  CHECK(of_config["input"]["store"] == "embedded");
  const Json of_flags =
      planned({"--config", config, "--partitions", "200", "--replicas", "3", "--months", "12", "--store", "redis",
               "--machine-cores", "32", "--machine-memory", "256", "--machine-disk", "8000"});
  CHECK(of_flags["input"]["partitions"] == 200);
  CHECK(of_flags["input"]["replicas"] == 3);
  CHECK(of_flags["input"]["retention_periods"] == 12);
  CHECK(of_flags["input"]["store"] == "redis");
  CHECK(of_flags["input"]["machine_cores"] == 32);
  CHECK(of_flags["input"]["machine_memory_bytes"] == 256.0 * (1 << 30));
  CHECK(of_flags["input"]["machine_disk_bytes"] == 8e12);
  CHECK(mid(of_flags, "partitions of user-events and of user-batches") == 200);
}

TEST_CASE("cli: a plan reaches the site's flags, each of which changes it") {
  const Json plan = planned({"--users", "1000000"});
  const auto changed = [&](const std::string& flag, const std::string& value, const std::string& row) {
    INFO(flag);
    CHECK(mid(planned({"--users", "1000000", flag, value}), row) != mid(plan, row));
  };
  changed("--plays-per-day", "50000000", "plays a second, mean");
  changed("--plays-per-user", "1.2", "bytes of a filter, open period");
  changed("--plays-per-user", "50=1200,90=6000,100=20000", "plays a second, mean");
  changed("--id-bytes", "36", "user-batches, bytes a play");
  changed("--peak", "2", "plays a second, peak");
  changed("--repeats", "0.2", "items of a filter, mean");
  changed("--plays-per-session", "5", "users who play in the fullest slot");
  changed("--plays-per-call", "4", "calls of Filter a second, peak");
  changed("--candidates", "2000", "calls, peak");
  changed("--serves-per-play", "0", "user-events, bytes a play with its serves");
  changed("--core-share", "0.3", "cores to have");
  changed("--spare-machines", "0", "bloomring, with spares");
}

TEST_CASE("cli: a plan that does not hold exits with 3 and says why, in both forms") {
  const std::vector<std::string> small = {"plan", "--machine-disk", "100", "--machine-memory", "4000"};
  const Outcome json = run(small);
  CHECK(json.exit_code == 3);
  CHECK(Json::parse(json.out)["fits"] == false);
  std::vector<std::string> as_text = small;
  as_text.insert(as_text.end(), {"--output", "text"});
  const Outcome text = run(as_text);
  CHECK(text.exit_code == 3);
  CHECK(contains(text.out, "\nIt does not fit:\n- the embedded store keeps window, merge and serve on one machine, "
                           "which needs a disk of "));
  CHECK(text.err == "");
}

TEST_CASE("cli: what a plan cannot take is refused with its flag") {
  CHECK(contains(refused({"--users", "0"}), "--users: 0 must be from 1 to 100000000000, as 50000000\n"));
  CHECK(contains(refused({"--users", "many"}), "Could not convert: --users = many"));
  CHECK(contains(refused({"--partitions", "60"}), "--partitions"));
  CHECK(contains(refused({"--plays-per-user", "x"}), "--plays-per-user: 'x' is no number; give the sigma"));
  CHECK(contains(refused({"--months", "1"}), "--months: 1 are fewer than a query reads; give at least 3"));
  CHECK(contains(refused({"--store", "reds"}), "--store: reds must be one of embedded, redis; did you mean redis?"));
  CHECK(contains(refused({"--set", "filter.period=week", "--set", "filter.retention_periods=20", "--months", "6"}),
                 "--months: filter.period of the configuration is no month; set filter.retention_periods "
                 "there"));
  CHECK(contains(refused({"--machine-memory", "0"}), "--machine-memory: Value 0 not in range 1 to 1000000"));
}
