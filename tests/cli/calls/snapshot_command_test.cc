#include "cli/calls/snapshot_command.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/snapshot_filter.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("snapshot command: the blob that is printed answers here as the service does there") {
  Served served;
  served.world.play("u1", "november1");
  served.world.merge();
  served.world.advance_hours(7);
  served.world.release();
  const auto run = [&](SnapshotOptions options, const std::string& input, int expected_code) {
    options.server = served.server->address();
    options.deadline_ms = 60'000;
    std::istringstream in(input);
    std::ostringstream out, err;
    CHECK(snapshot(options, in, out, err) == expected_code);
    return out.str() + err.str();
  };
  const std::string blob = run({.user = "u1"}, "", 0);
  CHECK(SnapshotFilter::open(blob).ok());
  std::string name = (std::filesystem::temp_directory_path() / "snapshot_XXXXXX").string();
  close(mkstemp(name.data()));
  std::ofstream(name, std::ios::binary) << blob;
  const std::string tested = run({.from = name, .test = true}, "november1\nnever1\n", 0);
  CHECK(tested == run({.from = name, .test = true, .items = {"november1", "never1"}}, "", 0));
  const auto json = nlohmann::json::parse(tested);
  CHECK(json["user"] == "u1");
  CHECK(json["complete"] == true);
  CHECK(json["items"][0] ==
        nlohmann::json({{"item", "november1"}, {"seen", true}, {"reason", "filter"}, {"period", "2026-11"}}));
  CHECK(json["items"][1]["seen"] == false);
  std::ofstream(name, std::ios::binary) << blob.substr(1);
  CHECK(run({.from = name, .test = true}, "", 1) == name + ": snapshot: checksum differs or bytes are missing\n");
  std::filesystem::remove(name);
  CHECK(run({.from = name, .test = true}, "", 2) == name + " cannot be read: No such file or directory\n");
  CHECK(run({.user = ""}, "", 2).ends_with(": user: an id is empty\n"));
}
