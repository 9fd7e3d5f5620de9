#include "schemas/json/json_shape.h"

#include <catch2/catch.hpp>

#include "schemas/json/json_fields.h"

using namespace bloomring;

namespace {

// The shape of {"user":"u1","item":7,"x":1.5} and whether `json` has it.
struct Example {
  static constexpr std::string_view kJson = R"({"user":"u1","item":7,"x":1.5})";
  JsonShape shape{kJson, std::vector<JsonShape::Value>{{9, 11, JsonShape::Kind::kString, 0},
                                                       {20, 21, JsonShape::Kind::kInteger, 1},
                                                       {26, 29, JsonShape::Kind::kNumber, -1}}};
  std::vector<JsonField> fields = std::vector<JsonField>(2);
  bool matches(std::string_view json) { return shape.match(json, fields); }
};

}  // namespace

TEST_CASE("json shape: a record with other strings and numbers has the shape, and its fields are found") {
  Example example;
  REQUIRE(example.matches(Example::kJson));
  REQUIRE(example.matches(R"({"user":"somebody else","item":-1234567890,"x":20})"));
  CHECK(example.fields[0].text == "somebody else");
  CHECK(example.fields[1].int64 == -1234567890);
  CHECK(example.matches(R"({"user":"","item":0,"x":-0.5})"));
  REQUIRE(example.matches(R"({"user":"","item":9223372036854775807,"x":0})"));
  CHECK(example.fields[1].int64 == 9223372036854775807);
}

TEST_CASE("json shape: what a parser would have to judge has not the shape") {
  Example example;
  for (const std::string json :
       {R"({"user":"u1","item":7,"x":1.5} )", R"({"user":"u1","item":7,"x":1.5)", R"({"user":"u1","item":7})", "", "{",
        R"({"user":"a\n","item":7,"x":1.5})", R"({"user":u1","item":7,"x":1.5})",
        "{\"user\":\"\x1f\",\"item\":7,\"x\":1.5}", "{\"user\":\"\xc3\xa9\",\"item\":7,\"x\":1.5}",
        R"({"user":"u1","item":"7","x":1.5})", R"({"user":"u1","item":7.0,"x":1.5})",
        R"({"user":"u1","item":07,"x":1.5})", R"({"user":"u1","item":,"x":1.5})", R"({"user":"u1","item":-,"x":1.5})",
        R"({"user":"u1","item":9223372036854775808,"x":1.5})", R"({"user":"u1","item":7,"x":1.})",
        R"({"user":"u1","item":7,"x":1e5})", R"({"user":"u1","item":7,"x":01.5})",
        R"({"user":"u1","item":7,"y":1.5})"}) {
    INFO(json);
    CHECK_FALSE(example.matches(json));
  }
}
