#include "cli/calls/json_text.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::string text_of(const char* json) { return json_text(nlohmann::ordered_json::parse(json)); }

}  // namespace

TEST_CASE("text: an answer is lines and a table") {
  CHECK(text_of(R"({"user":"u1","complete":true,"items":[{"item":"v1","seen":true,"reason":"recent"},)"
                R"({"item":"v22","seen":false}]})") ==
        "user: u1\ncomplete: yes\nitems:\n  item  seen  reason\n  v1    yes   recent\n  v22   no    -\n");
}

TEST_CASE("text: lists, nothing, nested parts and times are written for people") {
  CHECK(text_of(R"({"forgotten":["a","b"],"items":[],"left":{},"gone":null})") ==
        "forgotten: a, b\nitems: none\nleft: none\ngone: -\n");
  CHECK(text_of(R"({"a_b":{"expires_ms":1790000000000,"took_ms":12,"f":0.5}})") ==
        "a b:\n  expires: 2026-09-21T14:13:20Z\n  took ms: 12\n  f: 0.5\n");
  CHECK(text_of(R"({"scenes":[{"scene":"feed","filters":[{"items":1}]},{"scene":"x","filters":[]}]})") ==
        "scenes:\n  scene: feed\n  filters:\n    items\n    1\n\n  scene: x\n  filters: none\n");
  CHECK(text_of(R"([{"x":1},{"x":2}])") == "x\n1\n2\n");
  CHECK(text_of(R"([{"start_ms":1790000000000,"took_ms":12}])") ==
        "start                 took ms\n2026-09-21T14:13:20Z  12\n");
  CHECK(text_of("[]") == "none\n");
}
