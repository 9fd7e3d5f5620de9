#include "schemas/json/play_json.h"

#include <catch2/catch.hpp>
#include <map>

#include "tests/schemas/json/play_reader.h"

using namespace bloomring;

namespace {

const std::string kPlain = R"({"user":"u1","item":"v1","time":1649314823123})";

std::string with(const std::string& fields) {
  return R"({"user":"u1","item":"v1","time":1649314823123,)" + fields + "}";
}

}  // namespace

TEST_CASE("play: fields are found along the paths of the mapping") {
  PlayMapping mapping;
  mapping.user = "user.id";
  mapping.item = "video.meta.id";
  Reader reader(mapping);
  REQUIRE(reader.read(R"({"user":{"id":17},"video":{"meta":{"id":"v1"}},"time":1649314823123})") == Refusal::kNone);
  CHECK(reader.play.user == "17");
  CHECK(reader.play.item == "v1");
  CHECK(reader.read(R"({"user":{"uid":17},"video":{"meta":{"id":"v1"}},"time":1649314823123})") ==
        Refusal::kMissingField);
  CHECK(reader.parser.detail() == "events.user 'user.id': field missing");
  CHECK(reader.parser.key() == "events.user");
  CHECK(reader.read("{") == Refusal::kMalformedJson);
  CHECK(reader.parser.key() == "");
}

TEST_CASE("play: what is said of a refused field begins with the key that names it and its name") {
  PlayMapping mapping;
  mapping.user = "user.id";
  mapping.time = "at";
  mapping.event = "action";
  mapping.kinds = {{"view", EventKind::kPlay}, {"like", MappedKind()}};
  mapping.view = {.watched = "w", .duration = "d", .share_min = 0.5};
  mapping.scenes = {"feed"};
  Reader reader(mapping);
  // A play with this value of the field.
  const auto said = [&](const std::string& field, const std::string& value) {
    std::map<std::string, std::string> members = {{"user", R"({"id":1})"},     {"item", R"("v1")"},
                                                  {"at", "1649314823123"},     {"scene", R"("feed")"},
                                                  {"action", R"("view")"},     {"w", "7"}};
    members[field] = value;
    std::string json;
    for (const auto& [name, held] : members) json += (json.empty() ? "{\"" : ",\"") + name + "\":" + held;
    CHECK(reader.read(json + "}") != Refusal::kNone);
    CHECK(reader.parser.detail().starts_with(std::string(reader.parser.key()) + " '"));
    return reader.parser.detail();
  };
  CHECK(said("user", R"({"id":""})") == "events.user 'user.id': empty");
  CHECK(said("item", "[]") == "events.item 'item': neither a string nor an integer");
  CHECK(said("item", '"' + std::string(129, 'v') + '"') ==
        "events.item 'item': 129 bytes, at most 128 are accepted");
  CHECK(said("at", "7") == "events.time 'at': before 2000, is events.time_unit right?");
  CHECK(said("scene", R"("fed")") == "events.scene 'scene': 'fed' is none of events.scenes");
  CHECK(said("scene", R"("")") == "events.scene 'scene': field missing, and events.scenes has no \"\"");
  CHECK(said("action", R"("dance")") ==
        "events.event 'action': 'dance' is none of events.kinds ('like', 'view'), nor play, serve, forget or "
        "forget_all");
  CHECK(said("w", R"("7")") == "events.watched 'w': not a number");
  CHECK(said("w", "7") == "events.duration 'd': field missing");
}

TEST_CASE("play: the site's own names of kinds are read, before bloomring's own") {
  PlayMapping mapping;
  mapping.kinds = {{"view", EventKind::kPlay}, {"delete", EventKind::kForget}, {"play", MappedKind()}};
  Reader reader(mapping);
  const auto kind = [&](const std::string& name) {
    REQUIRE(reader.read(with(R"("event":")" + name + '"')) == Refusal::kNone);
    return reader.play;
  };
  CHECK(kind("view").kind == EventKind::kPlay);
  CHECK(kind("view").skip == Skip::kNone);
  CHECK(kind("delete").kind == EventKind::kForget);
  CHECK(kind("serve").kind == EventKind::kServe);
  CHECK(kind("play").skip == Skip::kIgnoredKind);
  CHECK(reader.read(with(R"("event":"like")")) == Refusal::kUnknownEvent);
  CHECK(reader.parser.detail().find("'view'") != std::string::npos);
}

TEST_CASE("play: where a site names its kinds, a record without a name is refused or what the empty name says") {
  PlayMapping mapping;
  mapping.event = "action";
  mapping.kinds = {{"view", EventKind::kPlay}, {"*", MappedKind()}};
  Reader reader(mapping);
  CHECK(reader.read(kPlain) == Refusal::kMissingField);
  CHECK(reader.parser.detail() == "events.event 'action': field missing, and events.kinds has no \"\"");
  CHECK(reader.read(with(R"("action":null)")) == Refusal::kMissingField);
  mapping.kinds[""] = MappedKind();
  reader = Reader(mapping);
  REQUIRE(reader.read(kPlain) == Refusal::kNone);
  CHECK(reader.play.skip == Skip::kIgnoredKind);
  mapping.kinds[""] = EventKind::kPlay;
  reader = Reader(mapping);
  for (const std::string& record : {kPlain, with(R"("action":null)"), with(R"("action":"")")}) {
    INFO(record);
    REQUIRE(reader.read(record) == Refusal::kNone);
    CHECK(reader.play.kind == EventKind::kPlay);
    CHECK(reader.play.skip == Skip::kNone);
  }
}

TEST_CASE("play: a star takes the kinds that nobody names, and only those") {
  PlayMapping mapping;
  mapping.kinds = {{"*", MappedKind()}, {"view", EventKind::kPlay}};
  Reader reader(mapping);
  REQUIRE(reader.read(R"({"event":"impression"})") == Refusal::kNone);
  CHECK(reader.play.skip == Skip::kIgnoredKind);
  REQUIRE(reader.read(with(R"("event":"view")")) == Refusal::kNone);
  CHECK(reader.play.skip == Skip::kNone);
  REQUIRE(reader.read(with(R"("event":"forget")")) == Refusal::kNone);
  CHECK(reader.play.skip == Skip::kNone);
  CHECK(reader.read(R"({"event":"view"})") == Refusal::kMissingField);
}

TEST_CASE("play: a view counts from the share or the time on that the site says, and is skipped below") {
  PlayMapping mapping;
  mapping.view = {.watched = "w", .duration = "d", .unit = TimeUnit::kSeconds, .share_min = 0.5, .ms_min = 30'000};
  Reader reader(mapping);
  const auto counts = [&](const std::string& watched, const std::string& duration) {
    REQUIRE(reader.read(with(R"("w":)" + watched + R"(,"d":)" + duration)) == Refusal::kNone);
    return reader.play.skip == Skip::kNone;
  };
  CHECK(counts("5", "10"));
  CHECK_FALSE(counts("4.99", "10"));
  CHECK(counts("30", "100"));
  CHECK_FALSE(counts("29.9", "100"));
  CHECK(counts("0", "0"));
  CHECK_FALSE(counts("0", "18446744073709551615"));
  mapping.view.share_min = 0.1;
  mapping.view.ms_min = 0;
  reader = Reader(mapping);
  CHECK(counts("0.3", "3"));
}

TEST_CASE("play: what a rule of views looks at must be there, of plays alone") {
  PlayMapping mapping;
  mapping.view = {.watched = "w", .duration = "d", .share_min = 0.5};
  Reader reader(mapping);
  CHECK(reader.read(with(R"("d":7)")) == Refusal::kMissingField);
  CHECK(reader.parser.detail() == "events.watched 'w': field missing");
  CHECK(reader.read(with(R"("w":7)")) == Refusal::kMissingField);
  CHECK(reader.read(with(R"("w":"7","d":7)")) == Refusal::kWrongType);
  CHECK(reader.read(with(R"("w":-7,"d":7)")) == Refusal::kWrongType);
  CHECK(reader.read(with(R"("event":"forget")")) == Refusal::kNone);
  CHECK(reader.play.skip == Skip::kNone);
}

TEST_CASE("play: a site without scenes and kinds has plays of no scene, whatever its records hold") {
  PlayMapping mapping;
  mapping.scene = "";
  mapping.event = "";
  Reader reader(mapping);
  REQUIRE(reader.read(with(R"("scene":"feed","event":"forget","":"x")")) == Refusal::kNone);
  CHECK(reader.play.scene.empty());
  CHECK(reader.play.kind == EventKind::kPlay);
}

TEST_CASE("play: one of the scene in which ingest asks for the time is refused, where scenes part filters") {
  const std::string play = with(R"("scene":"bloomring-clock")");
  PlayMapping mapping;
  Reader reader(mapping);
  CHECK(reader.read(play) == Refusal::kUnknownScene);
  CHECK(reader.parser.detail() ==
        "events.scene 'scene': 'bloomring-clock' is a name of bloomring's own, give the scene another one");
  mapping.scenes = {"bloomring-clock"};
  CHECK(Reader(mapping).read(play) == Refusal::kUnknownScene);
  mapping.scene = "";
  mapping.scenes = {};
  CHECK(Reader(mapping).read(play) == Refusal::kNone);
}

TEST_CASE("play: where the scenes are declared another one is refused, also none") {
  PlayMapping mapping;
  mapping.scenes = {"feed", "search"};
  Reader reader(mapping);
  CHECK(reader.read(with(R"("scene":"search")")) == Refusal::kNone);
  CHECK(reader.read(with(R"("scene":"serach")")) == Refusal::kUnknownScene);
  CHECK(reader.parser.detail().find("'serach'") != std::string::npos);
  CHECK(reader.read(with(R"("x":1)")) == Refusal::kUnknownScene);
  mapping.scenes.push_back("");
  CHECK(Reader(mapping).read(with(R"("x":1)")) == Refusal::kNone);
}

TEST_CASE("play: where topics of plays may not forget, a forget by any name is refused, and nothing else is") {
  PlayMapping mapping;
  mapping.forgets = false;
  mapping.kinds = {{"", EventKind::kPlay}, {"delete", EventKind::kForget}, {"clear", EventKind::kForgetAll}};
  Reader reader(mapping);
  for (const char* kind : {"forget", "forget_all", "delete", "clear"}) {
    CHECK(reader.read(with("\"event\":\"" + std::string(kind) + "\"")) == Refusal::kForgetNotAllowed);
    CHECK(reader.parser.detail() ==
          "events.event 'event': a forget, and events.forget takes none from topics of plays");
    CHECK(reader.parser.key() == "events.event");
  }
  for (const char* kind : {"play", "serve"}) {
    CHECK(reader.read(with("\"event\":\"" + std::string(kind) + "\"")) == Refusal::kNone);
  }
  CHECK(reader.read(kPlain) == Refusal::kNone);
  Reader open;
  CHECK(open.read(with(R"("event":"forget_all")")) == Refusal::kNone);
}
