#include "pipeline/shadow/query_line.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::string refused(const std::string& line) {
  const auto query = parse_query_line(line);
  CHECK(query.code() == Code::kBadRecord);
  return query.status().message();
}

}  // namespace

TEST_CASE("query line: user, scene and candidates, as strings or integers") {
  const auto query = parse_query_line(R"({"user":17,"scene":"feed","candidates":["v1",4711,-3],"limit":10})");
  REQUIRE(query.ok());
  CHECK(query->user == "17");
  CHECK(query->scene == "feed");
  CHECK(query->items == std::vector<std::string>{"v1", "4711", "-3"});
  const auto bare = parse_query_line(R"({"user":"u1","scene":"","candidates":[]})");
  REQUIRE(bare.ok());
  CHECK(bare->scene.empty());
  CHECK(bare->items.empty());
}

TEST_CASE("query line: what is no query is refused with its reason") {
  CHECK(refused("{") == "no JSON object");
  CHECK(refused("[1]") == "no JSON object");
  CHECK(refused(R"({"candidates":[]})") == "user is missing");
  CHECK(refused(R"({"user":"u1"})") == "candidates is missing, or no list");
  CHECK(refused(R"({"user":"u1","candidates":"v1"})") == "candidates is missing, or no list");
  CHECK(refused(R"({"user":1.5,"candidates":[]})") == "user is no string and no integer");
  CHECK(refused(R"({"user":"","candidates":[]})") == "user: empty_id");
  CHECK(refused(R"({"user":"u1","candidates":["v1",""]})") == "candidates: empty_id");
  CHECK(refused(R"({"user":"u1","candidates":[")" + std::string(129, 'v') + "\"]}") == "candidates: id_too_long");
  CHECK(refused("{\"user\":\"u1\",\"candidates\":[\"a\\u0000b\"]}") == "candidates: bad_text");
  std::string many = R"({"user":"u1","candidates":[1)";
  for (size_t i = 0; i < kQueryCandidatesMax; ++i) many += ",1";
  CHECK(refused(many + "]}") == "candidates: 20001 ids, at most 20000 are allowed");
}
