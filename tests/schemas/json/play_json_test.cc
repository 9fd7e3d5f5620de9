#include "schemas/json/play_json.h"

#include <simdjson.h>

#include <catch2/catch.hpp>
#include <random>

#include "tests/schemas/documented_example.h"
#include "tests/schemas/json/play_reader.h"

using namespace bloomring;

namespace {

constexpr int64_t kAheadMs = 86'400'000;

Refusal refusal_of(std::string_view json) { return Reader().read(json); }

std::string with_time(const std::string& time) { return R"({"user":"u1","item":"v1","time":)" + time + "}"; }
std::string with_user(const std::string& user) {
  return R"({"user":)" + user + R"(,"item":"v1","time":1649314823123})";
}
std::string with_item(const std::string& item) {
  return R"({"user":"u1","item":)" + item + R"(,"time":1649314823123})";
}
std::string with(const std::string& fields) {
  return R"({"user":"u1","item":"v1","time":1649314823123,)" + fields + "}";
}
std::string in_quotes(const std::string& text) { return '"' + text + '"'; }

int64_t time_of(const std::string& time, TimeUnit unit = TimeUnit::kMilliseconds) {
  PlayMapping mapping;
  mapping.time_unit = unit;
  Reader reader(mapping);
  INFO(time);
  REQUIRE(reader.read(with_time(time)) == Refusal::kNone);
  return reader.play.time_ms;
}

Refusal time_refusal(const std::string& time, TimeUnit unit = TimeUnit::kMilliseconds) {
  PlayMapping mapping;
  mapping.time_unit = unit;
  return Reader(mapping).read(with_time(time));
}

std::string user_of(const std::string& json) {
  Reader reader;
  INFO(json);
  REQUIRE(reader.read(json) == Refusal::kNone);
  return std::string(reader.play.user);
}

std::string item_of(const std::string& json) {
  Reader reader;
  INFO(json);
  REQUIRE(reader.read(json) == Refusal::kNone);
  return std::string(reader.play.item);
}

}  // namespace

TEST_CASE("play: the example of the document is accepted as it says") {
  Reader reader;
  REQUIRE(reader.read(documented_block("Play, as JSON", "json")) == Refusal::kNone);
  CHECK(reader.play.user == "u1");
  CHECK(reader.play.item == "v1");
  CHECK(reader.play.scene == "feed");
  CHECK(reader.play.kind == EventKind::kPlay);
  CHECK(reader.play.time_ms == 1'649'314'823'123);
}

TEST_CASE("play: user, item and time are enough; scene is then empty and the event a play") {
  Reader reader;
  REQUIRE(reader.read(with_time("1649314823123")) == Refusal::kNone);
  CHECK(reader.play.user == "u1");
  CHECK(reader.play.item == "v1");
  CHECK(reader.play.scene.empty());
  CHECK(reader.play.kind == EventKind::kPlay);
  CHECK(reader.play.time_ms == 1'649'314'823'123);
}

TEST_CASE("play: nothing of one record stays for the next") {
  Reader reader;
  REQUIRE(reader.read(with(R"("scene":"feed","event":"play")")) == Refusal::kNone);
  CHECK(reader.play.scene == "feed");
  REQUIRE(reader.read(with_time("1649314823123")) == Refusal::kNone);
  CHECK(reader.play.scene.empty());
  CHECK(reader.read(R"({"item":"v1","time":1649314823123})") == Refusal::kMissingField);
}

TEST_CASE("play: an integer id is its decimal string, over the whole range of 64 bits") {
  CHECK(user_of(with_user("42")) == "42");
  CHECK(item_of(with_item("42")) == "42");
  CHECK(item_of(with_item("0")) == "0");
  CHECK(item_of(with_item("-7")) == "-7");
  CHECK(item_of(with_item("9223372036854775807")) == "9223372036854775807");
  CHECK(item_of(with_item("-9223372036854775808")) == "-9223372036854775808");
  CHECK(item_of(with_item("9223372036854775808")) == "9223372036854775808");
  CHECK(item_of(with_item("18446744073709551615")) == "18446744073709551615");
}

TEST_CASE("play: a user and an item that are both integers do not share their digits") {
  Reader reader;
  REQUIRE(reader.read(R"({"user":17,"item":4711,"time":1649314823123})") == Refusal::kNone);
  CHECK(reader.play.user == "17");
  CHECK(reader.play.item == "4711");
}

TEST_CASE("play: a number beyond 64 bits makes the record malformed, in any field") {
  CHECK(refusal_of(with_item("18446744073709551616")) == Refusal::kMalformedJson);
  CHECK(refusal_of(with_item("-9223372036854775809")) == Refusal::kMalformedJson);
  CHECK(refusal_of(with_time("18446744073709551616")) == Refusal::kMalformedJson);
  CHECK(refusal_of(with(R"("other":99999999999999999999999)")) == Refusal::kMalformedJson);
  CHECK(refusal_of(with_time("1e999")) == Refusal::kMalformedJson);
  Reader reader;
  CHECK(reader.read(with_item("18446744073709551616")) == Refusal::kMalformedJson);
  CHECK_THAT(reader.parser.detail(), Catch::Contains("send a longer id as a string"));
}

TEST_CASE("play: an id is 1 to 128 bytes long") {
  for (const std::string& letter : {std::string("v"), std::string("é")}) {
    const size_t letters = 128 / letter.size();
    std::string longest;
    for (size_t i = 0; i < letters; ++i) longest += letter;
    CHECK(user_of(with_user(in_quotes(longest))) == longest);
    CHECK(item_of(with_item(in_quotes(longest))) == longest);
    CHECK(refusal_of(with_user(in_quotes(longest + "v"))) == Refusal::kIdTooLong);
    CHECK(refusal_of(with_item(in_quotes(longest + "v"))) == Refusal::kIdTooLong);
  }
  CHECK(refusal_of(with(R"("scene":")" + std::string(128, 's') + '"')) == Refusal::kNone);
  CHECK(refusal_of(with(R"("scene":")" + std::string(129, 's') + '"')) == Refusal::kIdTooLong);
  CHECK(refusal_of(with_user(R"("")")) == Refusal::kEmptyId);
  CHECK(refusal_of(with_item(R"("")")) == Refusal::kEmptyId);
  CHECK(refusal_of(with(R"("scene":"")")) == Refusal::kNone);
}

TEST_CASE("play: escapes stand for what they mean, in values and in names") {
  CHECK(item_of(with_item(R"("v\u0031")")) == "v1");
  CHECK(item_of(with_item(R"("a\/b\"\\\n")")) == "a/b\"\\\n");
  CHECK(item_of(with_item(R"("\ud83d\ude00")")) == "😀");
  CHECK(user_of(R"({"us\u0065r":"u2","item":"v1","time":1649314823123})") == "u2");
}

TEST_CASE("play: half of a surrogate pair is no character: the record is malformed") {
  for (const std::string half :
       {R"("\ud83d")", R"("\ude00")", R"("\ude00\ud83d")", R"("\ud83dx")", R"("\ud83d\u0041")"}) {
    INFO(half);
    CHECK(refusal_of(with_item(half)) == Refusal::kMalformedJson);
  }
}

TEST_CASE("play: an id with the character NUL is refused, because no query could ask for it") {
  CHECK(refusal_of(with_user(R"("u\u00001")")) == Refusal::kWrongType);
  CHECK(refusal_of(with_item(R"("\u0000")")) == Refusal::kWrongType);
  CHECK(refusal_of(with(R"("scene":"a\u0000")")) == Refusal::kWrongType);
}

TEST_CASE("play: unknown fields are ignored, whatever is in them") {
  CHECK(refusal_of(with(R"("x":1.5,"y":{"user":"other","time":[1,2]},"z":[{"item":null}],"":true)")) == Refusal::kNone);
  CHECK(user_of(with(R"("deep":)" + std::string(500, '[') + std::string(500, ']'))) == "u1");
  CHECK(user_of(with(R"("User":"other","USER":"other","user ":"other")")) == "u1");
}

TEST_CASE("play: a record with a repeated field of the configuration is refused, with the field") {
  const std::vector<std::pair<std::string, std::string>> members = {{"user", R"("u1")"},
                                                                    {"item", R"("v1")"},
                                                                    {"time", "1649314823123"},
                                                                    {"scene", R"("feed")"},
                                                                    {"event", R"("play")"}};
  for (size_t repeated = 0; repeated <= members.size(); ++repeated) {
    std::string json = "{";
    for (const auto& [name, value] : members) json += '"' + name + "\":" + value + ",";
    if (repeated < members.size()) json += '"' + members[repeated].first + "\":\"x\",";
    json += R"("y":1,"y":2})";
    Reader reader;
    INFO(json);
    if (repeated == members.size()) {
      CHECK(reader.read(json) == Refusal::kNone);
      continue;
    }
    CHECK(reader.read(json) == Refusal::kRepeatedField);
    const std::string& name = members[repeated].first;
    CHECK(reader.parser.detail() == "events." + name + " '" + name + "': more than once in the record");
    CHECK(reader.parser.key() == "events." + name);
  }
}

TEST_CASE("play: a repeated field is refused though the kind of the record does not need it") {
  CHECK(refusal_of(with(R"("event":"forget_all","item":"v2")")) == Refusal::kRepeatedField);
  PlayMapping mapping;
  mapping.view = {.watched = "progress_ms", .duration = "", .ms_min = 1000};
  Reader reader(mapping);
  CHECK(reader.read(with(R"("event":"serve","progress_ms":1,"progress_ms":9000)")) == Refusal::kRepeatedField);
  CHECK(reader.parser.key() == "events.watched");
}

TEST_CASE("play: a record of an ignored kind is skipped with repeated fields, unless its kind is one of them") {
  PlayMapping mapping;
  mapping.kinds = {{"like", std::nullopt}, {"view", EventKind::kPlay}};
  Reader reader(mapping);
  CHECK(reader.read(with(R"("event":"like","user":"u2")")) == Refusal::kNone);
  CHECK(reader.play.skip == Skip::kIgnoredKind);
  CHECK(reader.read(with(R"("event":"like","event":"view")")) == Refusal::kRepeatedField);
  CHECK(reader.read(with(R"("event":"view","user":"u2")")) == Refusal::kRepeatedField);
}

TEST_CASE("play: a field that is null is absent") {
  CHECK(refusal_of(with_user("null")) == Refusal::kMissingField);
  CHECK(refusal_of(with_item("null")) == Refusal::kMissingField);
  CHECK(refusal_of(with_time("null")) == Refusal::kMissingField);
  CHECK(refusal_of(with(R"("scene":null,"event":null)")) == Refusal::kNone);
}

TEST_CASE("play: fields have the names of the mapping, and only these") {
  PlayMapping mapping;
  mapping.user = "uid";
  mapping.item = "video_id";
  mapping.time = "ts";
  mapping.scene = "tab";
  mapping.event = "kind";
  mapping.time_unit = TimeUnit::kSeconds;
  Reader reader(mapping);
  REQUIRE(
      reader.read(R"({"uid":7,"video_id":"v1","ts":1649314823,"tab":"feed","kind":"play","user":[],"event":"x"})") ==
      Refusal::kNone);
  CHECK(reader.play.user == "7");
  CHECK(reader.play.item == "v1");
  CHECK(reader.play.scene == "feed");
  CHECK(reader.play.time_ms == 1'649'314'823'000);
  CHECK(reader.read(R"({"user":"7","video_id":"v1","ts":1649314823})") == Refusal::kMissingField);
  CHECK_THAT(reader.parser.detail(), Catch::Contains("'uid'"));
}

TEST_CASE("play: a time is a number in the configured unit") {
  CHECK(time_of("1649314823123") == 1'649'314'823'123);
  CHECK(time_of("1649314823123.9") == 1'649'314'823'123);
  CHECK(time_of("1.649314823123e12") == 1'649'314'823'123);
  CHECK(time_of("1649314823", TimeUnit::kSeconds) == 1'649'314'823'000);
  CHECK(time_of("1649314823123456", TimeUnit::kMicroseconds) == 1'649'314'823'123);
  CHECK(time_refusal("1649314823") == Refusal::kTimeTooEarly);
  CHECK(time_refusal("1649314823123", TimeUnit::kSeconds) == Refusal::kTimeAhead);
  CHECK(time_refusal("1649314823123456") == Refusal::kTimeAhead);
}

TEST_CASE("play: seconds with three decimals keep their milliseconds, microseconds lose only their fraction") {
  std::mt19937_64 rng(3);
  for (int i = 0; i < 2000; ++i) {
    const int64_t time_ms =
        kEventTimeMinMs + static_cast<int64_t>(rng() % static_cast<uint64_t>(kNowMs - kEventTimeMinMs));
    const std::string milliseconds = std::to_string(1000 + time_ms % 1000).substr(1);
    REQUIRE(time_of(std::to_string(time_ms / 1000) + "." + milliseconds, TimeUnit::kSeconds) == time_ms);
    REQUIRE(time_of(std::to_string(time_ms * 1000 + static_cast<int64_t>(rng() % 1000)), TimeUnit::kMicroseconds) ==
            time_ms);
  }
}

TEST_CASE("play: a time as text is RFC 3339, with any offset and fraction, in every configured unit") {
  CHECK(time_of(R"("2022-04-07T07:00:23Z")") == 1'649'314'823'000);
  CHECK(time_of(R"("2022-04-07T07:00:23.123Z")") == 1'649'314'823'123);
  CHECK(time_of(R"("2022-04-07T07:00:23.123999999Z")") == 1'649'314'823'123);
  CHECK(time_of(R"("2022-04-07t07:00:23z")") == 1'649'314'823'000);
  CHECK(time_of(R"("2022-04-07T15:00:23+08:00")") == 1'649'314'823'000);
  CHECK(time_of(R"("2022-04-07T12:45:23+05:45")") == 1'649'314'823'000);
  CHECK(time_of(R"("2022-04-06T23:00:23.5-08:00")") == 1'649'314'823'500);
  CHECK(time_of(R"("2022-04-07T07:00:23-00:00")") == 1'649'314'823'000);
  CHECK(time_of(R"("2022-04-07T07:00:23Z")", TimeUnit::kSeconds) == 1'649'314'823'000);
  CHECK(time_of(R"("2022-04-07T07:00:23Z")", TimeUnit::kMicroseconds) == 1'649'314'823'000);
}

TEST_CASE("play: text that is no RFC 3339 time is of the wrong type") {
  for (const std::string text :
       {"", "now", "1649314823123", "2022-04-07", "2022-04-07T07:00:23", "2022-04-07 07:00:23Z", "2022-13-07T07:00:23Z",
        "2022-02-30T07:00:23Z", "2022-04-07T25:00:23Z", "2022-04-07T07:00:23ZZ", "infinite-future", "infinite-past"}) {
    INFO(text);
    CHECK(time_refusal(in_quotes(text)) == Refusal::kWrongType);
  }
}

TEST_CASE("play: the first accepted time is 2000, the last is a day ahead of the clock") {
  CHECK(time_of("946684800000") == kEventTimeMinMs);
  CHECK(time_refusal("946684799999") == Refusal::kTimeTooEarly);
  CHECK(time_refusal("946684799999.9") == Refusal::kTimeTooEarly);
  CHECK(time_of(R"("2000-01-01T00:00:00Z")") == kEventTimeMinMs);
  CHECK(time_refusal(R"("1999-12-31T23:59:59.9999Z")") == Refusal::kTimeTooEarly);
  CHECK(time_refusal("0") == Refusal::kTimeTooEarly);
  CHECK(time_refusal("-9223372036854775808") == Refusal::kTimeTooEarly);
  CHECK(time_refusal("-9223372036854775808", TimeUnit::kSeconds) == Refusal::kTimeTooEarly);
  CHECK(time_refusal("-1e300") == Refusal::kTimeTooEarly);
  CHECK(time_of(std::to_string(kNowMs + kAheadMs)) == kNowMs + kAheadMs);
  CHECK(time_refusal(std::to_string(kNowMs + kAheadMs + 1)) == Refusal::kTimeAhead);
  CHECK(time_of(R"("2022-04-08T07:01:40Z")") == kNowMs + kAheadMs);
  CHECK(time_refusal(R"("2022-04-08T07:01:40.001Z")") == Refusal::kTimeAhead);
  CHECK(time_refusal("9223372036854775807") == Refusal::kTimeAhead);
  CHECK(time_refusal("9223372036854775807", TimeUnit::kSeconds) == Refusal::kTimeAhead);
  CHECK(time_refusal("18446744073709551615") == Refusal::kTimeAhead);
  CHECK(time_refusal("1e300") == Refusal::kTimeAhead);
}

TEST_CASE("play: a clock beyond 2100 accepts no time that the log could not hold") {
  PlayParser parser({});
  Play play;
  CHECK(parser.parse(with_time(std::to_string(kEventTimeEndMs - 1)), kEventTimeEndMs + kNowMs, play) == Refusal::kNone);
  CHECK(parser.parse(with_time(std::to_string(kEventTimeEndMs)), kEventTimeEndMs + kNowMs, play) ==
        Refusal::kTimeAhead);
}

TEST_CASE("play: what is not one JSON object is malformed") {
  for (const std::string text :
       {"", " ", "null", "7", R"("u1")", "[]", R"([{"user":"u1"}])", "{", R"({"user":"u1","item":)", "{}{}",
        R"({"user":"u1" "item":"v1"})", R"({user:"u1"})", R"({'user':'u1'})", R"({"user":"u1",})",
        R"({"user":"a)"
        "\n"
        R"("})"}) {
    INFO(text);
    CHECK(refusal_of(text) == Refusal::kMalformedJson);
  }
  CHECK(refusal_of(with_time("1649314823123") + "x") == Refusal::kMalformedJson);
  CHECK(refusal_of(with_time("1649314823123") + with_time("1649314823123")) == Refusal::kMalformedJson);
  CHECK(refusal_of(with(R"("deep":)" + std::string(5000, '[') + std::string(5000, ']'))) == Refusal::kMalformedJson);
  CHECK(refusal_of(" \t\r\n" + with_time("1649314823123") + " \n") == Refusal::kNone);
}

TEST_CASE("play: a required field that is absent is missing, by its name") {
  Reader reader;
  CHECK(reader.read("{}") == Refusal::kMissingField);
  CHECK_THAT(reader.parser.detail(), Catch::Contains("'user'"));
  CHECK(reader.read(R"({"user":"u1","time":1649314823123})") == Refusal::kMissingField);
  CHECK_THAT(reader.parser.detail(), Catch::Contains("'item'"));
  CHECK(reader.read(R"({"user":"u1","item":"v1"})") == Refusal::kMissingField);
  CHECK_THAT(reader.parser.detail(), Catch::Contains("'time'"));
}

TEST_CASE("play: a field of another JSON type than its own is of the wrong type") {
  for (const std::string value : {"1.5", "1.0", "true", "false", "[]", "{}", R"(["v1"])"}) {
    INFO(value);
    CHECK(refusal_of(with_user(value)) == Refusal::kWrongType);
    CHECK(refusal_of(with_item(value)) == Refusal::kWrongType);
  }
  for (const std::string value : {"true", "[]", "{}"}) CHECK(refusal_of(with_time(value)) == Refusal::kWrongType);
  for (const std::string value : {"1", "1.5", "true", "[]", "{}"}) {
    CHECK(refusal_of(with(R"("scene":)" + value)) == Refusal::kWrongType);
    CHECK(refusal_of(with(R"("event":)" + value)) == Refusal::kWrongType);
  }
}

TEST_CASE("play: the kind of an event goes by its name, and another name is unknown") {
  Reader reader;
  const std::pair<std::string, EventKind> kinds[] = {
      {"play", EventKind::kPlay}, {"serve", EventKind::kServe}, {"forget", EventKind::kForget}};
  for (const auto& [name, kind] : kinds) {
    INFO(name);
    REQUIRE(reader.read(with(R"("event":)" + in_quotes(name))) == Refusal::kNone);
    CHECK(reader.play.kind == kind);
    CHECK(reader.play.item == "v1");
  }
  REQUIRE(reader.read(with(R"("event":null)")) == Refusal::kNone);
  CHECK(reader.play.kind == EventKind::kPlay);
  REQUIRE(reader.read(R"({"user":"u1","time":1649314823123,"event":"forget_all"})") == Refusal::kNone);
  CHECK(reader.play.kind == EventKind::kForgetAll);
  CHECK(reader.play.item.empty());
  CHECK(refusal_of(R"({"user":"u1","time":1649314823123,"event":"forget"})") == Refusal::kMissingField);
  CHECK(refusal_of(R"({"user":"u1","item":[],"time":1649314823123,"event":"forget_all"})") == Refusal::kNone);
  for (const std::string name : {"", "Play", "dance", "forgetall"}) {
    INFO(name);
    CHECK(refusal_of(with(R"("event":)" + in_quotes(name))) == Refusal::kUnknownEvent);
  }
}

TEST_CASE("play: a record of the configured size is accepted, one byte more is too large") {
  PlayMapping mapping;
  mapping.record_bytes_max = 200;
  Reader reader(mapping);
  const std::string play = with_time("1649314823123");
  CHECK(reader.read(play + std::string(200 - play.size(), ' ')) == Refusal::kNone);
  CHECK(reader.read(play + std::string(201 - play.size(), ' ')) == Refusal::kTooLarge);
  CHECK_THAT(reader.parser.detail(), Catch::Contains("201") && Catch::Contains("200"));
  CHECK(Reader().read(with(R"("x":")" + std::string(60'000, 'x') + '"')) == Refusal::kNone);
}

TEST_CASE("play: bytes that are not UTF-8 are refused as such, in any field") {
  for (const std::string bad : {"\xff", "\xc3", "\x80", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"}) {
    INFO(hex(bad));
    CHECK(refusal_of(with_item(in_quotes("v" + bad))) == Refusal::kNotUtf8);
    CHECK(refusal_of(with(R"("other":)" + in_quotes(bad))) == Refusal::kNotUtf8);
  }
  CHECK(item_of(with_item(in_quotes("视频-é"))) == "视频-é");
}

TEST_CASE("play: every refusal comes with a sentence that is valid UTF-8, however the record looked") {
  Reader reader;
  const std::string long_name = "x" + [] {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "视";
    return text;
  }();
  for (const std::string& json :
       {std::string("{"), std::string("{}"), with_user("[]"), with_user(R"("")"),
        with_user(in_quotes(std::string(200, 'u'))), with_time("1"), with_time("9e15"), with_time(R"("when")"),
        with(R"("event":)" + in_quotes(long_name)), with_item("\"\xff\""), std::string(70'000, ' ')}) {
    INFO(json.substr(0, 100));
    CHECK(reader.read(json) != Refusal::kNone);
    CHECK_FALSE(reader.parser.detail().empty());
    CHECK(simdjson::validate_utf8(reader.parser.detail()));
  }
}
