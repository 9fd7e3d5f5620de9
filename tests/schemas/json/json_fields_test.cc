#include "schemas/json/json_fields.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/schemas/json/naive_fields.h"
#include "tests/support/instrumented.h"

using namespace bloomring;

namespace {

using Type = JsonField::Type;

const std::vector<std::string> kNames = {"user", "item", "time"};
const std::vector<std::string> kPaths = {"user.id", "user", "x.user.id", "item", ""};

// The answer of a reader, in a form that compares and prints.
std::string said(JsonOutcome outcome, const JsonFields& fields) {
  if (outcome != JsonOutcome::kObject) return outcome == JsonOutcome::kNotUtf8 ? "not UTF-8" : "malformed";
  std::string text;
  for (const JsonField& field : fields.fields()) {
    switch (field.type) {
      case Type::kAbsent: text += "absent"; break;
      case Type::kString: text += '"' + std::string(field.text) + '"'; break;
      case Type::kInt64: text += std::to_string(field.int64); break;
      case Type::kUint64: text += std::to_string(field.uint64) + "u"; break;
      case Type::kDouble: text += std::to_string(field.number); break;
      case Type::kOther: text += "other"; break;
      case Type::kRepeated: text += "repeated"; break;
    }
    text += ' ';
  }
  return text;
}

std::string read(JsonFields& fields, std::string_view json) { return said(fields.read(json), fields); }
std::string read_strictly(JsonFields& fields, std::string_view json) {
  return said(fields.read_strictly(json), fields);
}

std::string number(std::mt19937_64& random) {
  static const std::vector<std::string> numbers = {"0",
                                                   "-0",
                                                   "7",
                                                   "-12",
                                                   "1649314823123",
                                                   "1234567890123456789",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "-9223372036854775809",
                                                   "18446744073709551615",
                                                   "18446744073709551616",
                                                   "1.5",
                                                   "-0.25",
                                                   "0.12345678901234567890",
                                                   "1e3",
                                                   "01",
                                                   "1.",
                                                   ".5",
                                                   "-"};
  return numbers[random() % numbers.size()];
}

std::string text(std::mt19937_64& random) {
  static const std::vector<std::string> texts = {"",     "u1",      "a b", "null",   "'",    "日本",
                                                 "\x7f", "\\u0041", "\\n", "a\\\"b", "\x1f", "\xff"};
  return '"' + texts[random() % texts.size()] + '"';
}

std::string value(std::mt19937_64& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 6)) {
    case 0:
    case 1: return number(random);
    case 2:
    case 3: return text(random);
    case 4: return random() % 2 == 0 ? "true" : "false";
    case 5: return "null";
    case 6: return "[" + value(random, depth - 1) + ", " + value(random, depth - 1) + "]";
    default: {
      const std::string name = random() % 2 == 0 ? "\"user\":" : "\"id\":";
      const std::string member = name + value(random, depth - 1);
      return random() % 4 == 0 ? "{" + member + "," + name + value(random, depth - 1) + "}" : "{" + member + "}";
    }
  }
}

std::string object(std::mt19937_64& random) {
  static const std::vector<std::string> names = {"user", "item", "time", "x", "us\\u0065r", "", "user.id",
                                                 "x.user.id"};
  std::string json = "{";
  for (uint64_t left = random() % 6; left > 0; --left) {
    json += '"' + names[random() % names.size()] + "\":" + value(random, 2) + (left > 1 ? "," : "");
  }
  return json + "}";
}

// The same record with other values, or with a few bytes changed.
std::string mutated(std::string json, std::mt19937_64& random) {
  static const std::string alphabet = "\"{}[],:0123456789.-eE \\trufalsn\n\t\x01\x80\xff";
  for (uint64_t left = random() % 3; left > 0 && !json.empty(); --left) {
    const size_t at = random() % json.size();
    const char byte = alphabet[random() % alphabet.size()];
    switch (random() % 3) {
      case 0: json[at] = byte; break;
      case 1: json.insert(at, 1, byte); break;
      default: json.erase(at, 1);
    }
  }
  return json;
}

}  // namespace

TEST_CASE("json fields: the records of a producer are read like the first one, whatever they hold") {
  JsonFields fields(kNames);
  CHECK(read(fields, R"({"user":"u1","x":1,"item":"v1","time":5})") == "\"u1\" \"v1\" 5 ");
  CHECK(read(fields, R"({"user":"u2","x":2.5,"item":"v2","time":6})") == "\"u2\" \"v2\" 6 ");
  CHECK(read(fields, R"({"user":"u3","x":true,"item":"v3","time":7})") == "\"u3\" \"v3\" 7 ");
  CHECK(read(fields, R"({"user":"u4","x":3,"item":"v4","time":7.5})") == "\"u4\" \"v4\" 7.500000 ");
  CHECK(read(fields, R"({"user":"u5","x":4,"item":null,"time":8})") == "\"u5\" absent 8 ");
  CHECK(read(fields, R"({"user":"u6","x":4,"item":null,"time":9})") == "\"u6\" absent 9 ");
  CHECK(read(fields, R"({"user":["u7"],"x":4,"item":"v7","time":9})") == "other \"v7\" 9 ");
  CHECK(read(fields, R"({"user":["u8"],"x":4,"item":"v8","time":9})") == "other \"v8\" 9 ");
  CHECK(read(fields, R"({"x":4})") == "absent absent absent ");
  CHECK(read(fields, R"({"x":5})") == "absent absent absent ");
  CHECK(read(fields, R"({})") == "absent absent absent ");
  CHECK(read(fields, R"({"x":5}})") == "malformed");
}

TEST_CASE("json fields: a name with dots is a path through objects, at whatever depth") {
  JsonFields fields({"user.id", "a.b.c", "a.b.d"});
  CHECK(read(fields, R"({"user":{"name":"x","id":"u1"},"a":{"b":{"d":2,"c":1}}})") == "\"u1\" 1 2 ");
  CHECK(read(fields, R"({"user":{"name":"y","id":"u2"},"a":{"b":{"d":4,"c":3}}})") == "\"u2\" 3 4 ");
  CHECK(read(fields, R"({"user":{"name":"y"},"a":{"b":[{"d":4}]}})") == "absent absent absent ");
  CHECK(read(fields, R"({"user":"u3","a":{"b":{"c":{}}},"id":"u4"})") == "absent other absent ");
  CHECK(read(fields, R"({"x":{"user":{"id":"u5"}},"c":1})") == "absent absent absent ");
}

TEST_CASE("json fields: a wanted field that occurs twice is repeated, whatever its values are") {
  JsonFields fields(kNames);
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(read(fields, R"({"user":"u1","item":"v1","time":5,"user":"u2"})") == "repeated \"v1\" 5 ");
    CHECK(read(fields, R"({"user":"u1","item":"v1","time":5,"user":"u1"})") == "repeated \"v1\" 5 ");
    CHECK(read(fields, R"({"user":null,"item":"v1","time":5,"user":"u1"})") == "repeated \"v1\" 5 ");
    CHECK(read(fields, R"({"user":"u1","item":"v1","time":5,"user":null})") == "repeated \"v1\" 5 ");
    CHECK(read(fields, R"({"user":[1],"item":"v1","time":5,"user":{"user":1}})") == "repeated \"v1\" 5 ");
    CHECK(read(fields, R"({"user":1,"item":2,"time":5,"user":3,"item":4,"user":6})") == "repeated repeated 5 ");
    CHECK(read(fields, R"({"user":"u1","item":"v1","time":5,"time":1.5})") == "\"u1\" \"v1\" repeated ");
  }
}

TEST_CASE("json fields: another spelling of a name is the same name") {
  JsonFields fields({"user", "ctx.uid"});
  CHECK(read(fields, R"({"user":"u1","us\u0065r":"u2"})") == "repeated absent ");
  CHECK(read(fields, R"({"\u0075ser":"u1","us\u0065r":"u2"})") == "repeated absent ");
  CHECK(read(fields, R"({"user":"u1","us\u0045r":"u2"})") == "\"u1\" absent ");
  CHECK(read(fields, R"({"ctx":{"uid":1},"\u0063tx":{"x":2}})") == "absent repeated ");
  CHECK(read(fields, R"({"ctx":{"uid":1,"u\u0069d":2}})") == "absent repeated ");
  CHECK(read(fields, R"({"ctx":{"uid":1},"ctx\u002euid":2})") == "absent repeated ");
}

TEST_CASE("json fields: what is not wanted may occur as often as it likes") {
  JsonFields fields({"user", "ctx.uid"});
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(read(fields, R"({"x":1,"user":"u1","x":2,"ctx":{"y":1,"uid":7,"y":2},"z":{"uid":1,"uid":2}})") ==
          "\"u1\" 7 ");
    CHECK(read(fields, R"({"user":"u1","uid":1,"uid":2,"ctx":{"uid":7,"user":1,"ctx":{"uid":3,"uid":4}}})") ==
          "\"u1\" 7 ");
    CHECK(read(fields, R"({"user":"u1","a":[{"user":1,"user":2}],"ctx":[{"uid":1},{"uid":2}]})") == "\"u1\" absent ");
  }
}

TEST_CASE("json fields: a shape that was learned hides no repeated field") {
  JsonFields fields(kNames);
  const std::string once = R"({"user":"u1","x":"u2","item":"v1","time":5})";
  const std::string twice = R"({"user":"u1","user":"u2","item":"v1","time":5})";
  CHECK(read(fields, twice) == "repeated \"v1\" 5 ");
  CHECK(read(fields, once) == "\"u1\" \"v1\" 5 ");
  CHECK(read(fields, twice) == "repeated \"v1\" 5 ");
  CHECK(read(fields, once) == "\"u1\" \"v1\" 5 ");
}

TEST_CASE("json fields: a name with dots means a field of the very name, or one along the path, and not both") {
  JsonFields fields({"user.id"});
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(read(fields, R"({"user.id":"named","user":{"name":"x"}})") == "\"named\" ");
    CHECK(read(fields, R"({"user":{"id":"found"}})") == "\"found\" ");
    CHECK(read(fields, R"({"user.id":null,"user":{"name":"x"}})") == "absent ");
    CHECK(read(fields, R"({"user.id":"named","user":{"id":"found"}})") == "repeated ");
    CHECK(read(fields, R"({"user":{"id":"found"},"user.id":"named"})") == "repeated ");
    CHECK(read(fields, R"({"user":{"id":"found"},"user.id":null})") == "repeated ");
    CHECK(read(fields, R"({"user":{"id":null},"user.id":"named"})") == "repeated ");
  }
}

TEST_CASE("json fields: an object on the way of a path that occurs twice repeats what is wanted below it") {
  JsonFields fields({"user.id", "user.device.id", "time"});
  for (int pass = 0; pass < 2; ++pass) {
    CHECK(read(fields, R"({"user":{"id":"first"},"user":{"id":"second"},"time":5})") == "repeated repeated 5 ");
    CHECK(read(fields, R"({"user":{"name":"x"},"user":{"id":"second"},"time":5})") == "repeated repeated 5 ");
    CHECK(read(fields, R"({"user":{"id":"first"},"user":null,"time":5})") == "repeated repeated 5 ");
    CHECK(read(fields, R"({"user":1,"user":{"id":"second"},"time":5})") == "repeated repeated 5 ");
    CHECK(read(fields, R"({"user":{"id":1,"device":{"id":2},"device":{}},"time":5})") == "1 repeated 5 ");
  }
}

TEST_CASE("json fields: an object can be wanted for itself and for what is in it") {
  JsonFields fields({"user", "user.id"});
  CHECK(read(fields, R"({"user":{"id":"u1"}})") == "other \"u1\" ");
  CHECK(read(fields, R"({"user":"u1"})") == "\"u1\" absent ");
}

TEST_CASE("json fields: a name that is no path is only a name, and an empty one is never found") {
  JsonFields fields({"user.", ".id", "a..b", ""});
  CHECK(read(fields, R"({"user.":1,".id":2,"a..b":3,"":4})") == "1 2 3 absent ");
  CHECK(read(fields, R"({"user":{"":1},"":{"id":2},"a":{"":{"b":3}}})") == "absent absent absent absent ");
}

TEST_CASE("json fields: the quick readers say what the strict one says, of any bytes") {
  std::mt19937_64 random(20261121);
  const bool paths = GENERATE(false, true);
  JsonFields quick(paths ? kPaths : kNames), strict(paths ? kPaths : kNames);
  for (int i = 0; i < rounds(400'000); ++i) {
    const std::string json = object(random);
    for (int variant = 0; variant < 5; ++variant) {
      const std::string record = mutated(json, random);
      INFO(record);
      REQUIRE(read(quick, record) == read_strictly(strict, record));
    }
  }
}

TEST_CASE("json fields: a field is repeated exactly where counting its names finds it twice, in any object") {
  std::mt19937_64 random(20261123);
  JsonFields fields(kPaths);
  uint64_t repeated = 0;
  for (int i = 0; i < rounds(200'000); ++i) {
    const std::string record = object(random);
    INFO(record);
    if (fields.read(record) != JsonOutcome::kObject) continue;
    for (size_t name = 0; name < kPaths.size(); ++name) {
      if (kPaths[name].empty()) continue;
      const bool twice = fields.fields()[name].type == Type::kRepeated;
      REQUIRE(twice == naively_repeated(record, kPaths[name]));
      repeated += twice;
    }
  }
  CHECK(repeated > static_cast<uint64_t>(rounds(200'000)) / 10);
}
