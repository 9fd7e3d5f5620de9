#include "load/play_template.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "load/load_model.h"

using namespace bloomring;

TEST_CASE("load model: a play is written in the field names and the time unit of the site") {
  const LoadPlay play{.user = 17, .item = 4, .time_ms = 1'792'800'000'123};
  PlayMapping mapping;
  mapping.user = "uid";
  mapping.item = "video \"id\"";
  mapping.time = "ts";
  mapping.event = "kind";
  mapping.time_unit = TimeUnit::kSeconds;
  std::string json;
  LoadPlayWriter(mapping).write(play, json);
  const auto fields = nlohmann::json::parse(json);
  CHECK(fields["uid"] == "u17");
  CHECK(fields["video \"id\""] == "v4");
  CHECK(fields["ts"] == 1'792'800'000);
  CHECK(fields["kind"] == "play");
  mapping.time_unit = TimeUnit::kMicroseconds;
  LoadPlayWriter(mapping).write(play, json);
  CHECK(nlohmann::json::parse(json)["ts"] == 1'792'800'000'123'000);
  // The written record is accepted by the parser of the same mapping, as the same play.
  PlayParser parser(mapping);
  Play parsed;
  CHECK(parser.parse(json, play.time_ms, parsed) == Refusal::kNone);
  CHECK(parsed.user == "u17");
  CHECK(parsed.item == "v4");
  CHECK(parsed.time_ms == play.time_ms);
}

TEST_CASE("load model: what is written counts as a play under any mapping of a site") {
  const LoadPlay play{.user = 17, .item = 4, .time_ms = 1'792'800'000'123};
  PlayMapping mapping;
  mapping.user = "user.id";
  mapping.item = "video.id";
  mapping.event = "action";
  mapping.kinds = {{"play", MappedKind()}, {"view", EventKind::kPlay}, {"*", EventKind::kPlay}};
  mapping.view = {.watched = "video.watched", .duration = "video.length", .unit = TimeUnit::kSeconds,
                  .share_min = 1, .ms_min = 3'600'500};
  mapping.scenes = {"feed", "search"};
  std::string json;
  LoadPlayWriter(mapping).write(play, json);
  CHECK(nlohmann::json::parse(json)["video"]["id"] == "v4");
  CHECK(nlohmann::json::parse(json)["action"] == "view");
  PlayParser parser(mapping);
  Play parsed;
  REQUIRE(parser.parse(json, play.time_ms, parsed) == Refusal::kNone);
  CHECK(parsed.skip == Skip::kNone);
  CHECK(parsed.user == "u17");
  CHECK(parsed.scene == "feed");
  mapping.scenes = {"feed", ""};
  mapping.kinds = {{"play", MappedKind()}, {"", EventKind::kPlay}};
  mapping.event = "user.kind";
  LoadPlayWriter(mapping).write(play, json);
  PlayParser other(mapping);
  REQUIRE(other.parse(json, play.time_ms, parsed) == Refusal::kNone);
  CHECK(parsed.skip == Skip::kNone);
  CHECK(parsed.scene.empty());
  mapping.kinds = {{"play", MappedKind()}, {"*", EventKind::kPlay}};
  LoadPlayWriter(mapping).write(play, json);
  PlayParser starred(mapping);
  REQUIRE(starred.parse(json, play.time_ms, parsed) == Refusal::kNone);
  CHECK(parsed.skip == Skip::kNone);
}

TEST_CASE("load model: ids of any characters are written as JSON") {
  const PlayTemplate site{PlayMapping()};
  PlayParser parser{PlayMapping()};
  Play parsed;
  const std::string json = site.play("a \"b\"\n", "v\\1", 1'792'800'000'123);
  REQUIRE(parser.parse(json, 1'792'800'000'123, parsed) == Refusal::kNone);
  CHECK(parsed.user == "a \"b\"\n");
  CHECK(parsed.item == "v\\1");
}
