#include "cli/calls/query_command.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

std::string run_query(Served& served, QueryOptions options, const std::string& input, int expected_code) {
  options.server = served.server->address();
  options.deadline_ms = 60'000;
  std::istringstream in(input);
  std::ostringstream out, err;
  CHECK(query(options, in, out, err) == expected_code);
  return out.str() + err.str();
}

}  // namespace

TEST_CASE("query: prints the service's answer as the documented JSON") {
  Served served;
  served.world.play("u1", "v1");
  QueryOptions options;
  options.user = "u1";
  options.items = {"v1", "v2"};
  CHECK(run_query(served, options, "", 0) ==
        R"({"user":"u1","complete":true,"user_known":true,)"
        R"("items":[{"item":"v1","seen":true,"reason":"recent"},{"item":"v2","seen":false}]})"
        "\n");
  served.world.merge();
  served.world.advance_hours(7);
  served.world.release();
  options.items = {};
  const std::string answer = run_query(served, options, "v1\n", 0);
  const auto json = nlohmann::ordered_json::parse(answer);
  const double error = json["expected_error"].get<double>();
  CHECK(error > 0);
  CHECK(error < 1e-6);  // One item of 24 bits.
  CHECK(answer ==
        R"({"user":"u1","complete":true,"user_known":true,"expected_error":)" + json["expected_error"].dump() +
                      R"(,"items":[{"item":"v1","seen":true,"reason":"filter","period":"2026-11"}]})"
                      "\n");
}

TEST_CASE("query: a batch answers each line and goes on after a bad one") {
  Served served;
  served.world.play("1", "2");
  QueryOptions options;
  options.batch = true;
  const std::string out =
      run_query(served, options, "{\"user\":1,\"items\":[2,\"x\"]}\nnonsense\n{\"user\":\"1\",\"items\":[\"\"]}\n", 1);
  CHECK(out ==
        R"({"user":"1","complete":true,"user_known":true,)"
        R"("items":[{"item":"2","seen":true,"reason":"recent"},{"item":"x","seen":false}]})"
        "\n"
        R"({"line":2,"error":"the line must be {\"user\":..,\"items\":[..]}"})"
        "\n"
        R"({"line":3,"error":"candidates: an id is empty"})"
        "\n");
}

TEST_CASE("query: about all scenes it names them, and those in which the user is known") {
  Served served;
  served.partitions.known.note_stored({"search"});
  served.world.play_in("feed", "u1", "v1");
  QueryOptions options;
  options.user = "u1";
  options.items = {"v1"};
  options.all_scenes = true;
  CHECK(run_query(served, options, "", 0) ==
        R"({"user":"u1","complete":true,"user_known":true,"scenes":["feed","search"],"known_scenes":["feed"],)"
        R"("items":[{"item":"v1","seen":true,"reason":"recent"}]})"
        "\n");
  options.batch = true;
  CHECK(run_query(served, options, R"({"user":"u1","all_scenes":true,"items":["v1"]})", 0).find("\"seen\":true") !=
        std::string::npos);
}

TEST_CASE("query: of a user who is not known in the scene that was asked it tells where else, if anywhere") {
  Served served;
  served.world.play_in("feed", "u1", "v1");
  served.partitions.known.note_stored({});
  QueryOptions options;
  options.user = "u1";
  options.items = {"v1"};
  const std::string out = run_query(served, options, "", 0);
  CHECK(out.find("\"user_known\":false") != std::string::npos);
  CHECK_THAT(out, Catch::Contains("nothing is known of user u1 without a scene: no play, and nothing served; the user "
                                  "is known in other scenes (feed): ask with --scene, or --all-scenes"));
  options.user = "u2";
  const std::string nowhere = run_query(served, options, "", 0);
  CHECK_THAT(nowhere, Catch::Contains("nothing is known of user u2 in any scene: no play, and nothing served\n"));
  CHECK_THAT(nowhere, !Catch::Contains("--all-scenes"));
}

TEST_CASE("query: more items than one request holds are asked in several") {
  Served served;
  served.world.play("u1", "44999");
  QueryOptions options;
  options.user = "u1";
  std::string input;
  for (int i = 0; i < 45'000; ++i) input += std::to_string(i) + "\n";
  const auto json = nlohmann::json::parse(run_query(served, options, input, 0));
  REQUIRE(json["items"].size() == 45'000);
  CHECK(json["items"][44'999]["seen"] == true);
  CHECK(json["items"][44'998]["seen"] == false);
}

TEST_CASE("query: a server that is not there is exit code 1, a question that is refused 2") {
  QueryOptions options;
  options.server = "127.0.0.1:1";
  options.user = "u1";
  options.items = {"v1"};
  std::istringstream in;
  std::ostringstream out, err;
  CHECK(query(options, in, out, err) == 1);
  CHECK(out.str().empty());
  CHECK(err.str().starts_with("127.0.0.1:1: "));
  Served served;
  options.user = "";
  run_query(served, options, "", 2);
}
