#include "pipeline/settings/keys/event_keys.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/settings/keys/loaded.h"

using namespace bloomring;

TEST_CASE("settings: fields of plays have each their own name") {
  CHECK(complaint({{"events.item", "user"}}) ==
        "--events.item: events.item is user, which is already the name of another field");
  CHECK(complaint({{"events.item", ""}}) == "--events.item: events.item is \"\"; it must not be empty");
}

TEST_CASE("settings: a site's own kinds, views and scenes reach the mapping of its plays") {
  const Result<LoadedSettings> loaded = load({{"events.kinds", "{view: play, hide: forget, '*': ignore}"},
                                              {"events.watched", "w.s"},
                                              {"events.duration", "w.of"},
                                              {"events.watched_unit", "s"},
                                              {"events.view_share_min", "0.3"},
                                              {"events.view_ms_min", "3000"},
                                              {"events.scenes", "[feed, \"\"]"}});
  REQUIRE(loaded.status().message() == "");
  CHECK(loaded->warnings.empty());
  const PlayMapping mapping = loaded->settings.events.mapping();
  CHECK(mapping.kinds.at("view") == EventKind::kPlay);
  CHECK(mapping.kinds.at("hide") == EventKind::kForget);
  CHECK_FALSE(mapping.kinds.at("*").has_value());
  CHECK(mapping.view.watched == "w.s");
  CHECK(mapping.view.duration == "w.of");
  CHECK(mapping.view.unit == TimeUnit::kSeconds);
  CHECK(mapping.view.share_min == 0.3);
  CHECK(mapping.view.ms_min == 3000);
  CHECK(mapping.scenes == std::vector<std::string>{"feed", ""});
  CHECK(loaded->settings.events.scene_rules().declared == mapping.scenes);
  CHECK(loaded->settings.events.scene_rules().part_filters);
}

TEST_CASE("settings: the empty name of a kind stands for records without one") {
  const Result<LoadedSettings> loaded = load({{"events.kinds", "{view: play, '': ignore}"}});
  REQUIRE(loaded.status().message() == "");
  const PlayMapping mapping = loaded->settings.events.mapping();
  REQUIRE(mapping.kinds.contains(""));
  CHECK_FALSE(mapping.kinds.at("").has_value());
}

TEST_CASE("settings: a site may have neither scenes nor kinds, and must have user, item and time") {
  const Result<LoadedSettings> loaded = load({{"events.scene", ""}, {"events.event", ""}});
  REQUIRE(loaded.status().message() == "");
  CHECK_FALSE(loaded->settings.events.scene_rules().part_filters);
  for (const char* key : {"events.user", "events.item", "events.time"}) {
    INFO(key);
    CHECK(complaint({{key, ""}}).find("must not be empty") != std::string::npos);
  }
}

TEST_CASE("settings: kinds, views and scenes that cannot work are refused, with what is missing") {
  const auto refused = [](std::vector<std::pair<std::string, std::string>> values, const std::string& words) {
    INFO(words);
    CHECK(complaint(std::move(values)).find(words) != std::string::npos);
  };
  refused({{"events.kinds", "{view: watched}"}}, "events.kinds has view: watched; a kind is play, serve");
  refused({{"events.kinds", "{view: play}"}, {"events.event", ""}}, "events.kinds is set; events.event must name");
  refused({{"events.view_ms_min", "1"}}, "events.view_ms_min is set; events.watched must name");
  refused({{"events.view_share_min", "0.5"}, {"events.watched", "w"}}, "events.duration must name");
  refused({{"events.scenes", "feed"}, {"events.scene", ""}}, "events.scene is empty");
  refused({{"events.user", "a.b.c.d.e.f.g.h.i"}}, "a path has at most 8 names");
  for (const char* path : {"a..b", ".a", "a.", "."}) {
    refused({{"events.user", path}}, "is " + std::string(path) + "; a path has a name before and behind each dot");
  }
  refused({{"events.watched", "user"}}, "already the name of another field");
  const auto unused = load({{"events.watched", "w"}});
  REQUIRE(unused.ok());
  REQUIRE(unused->warnings.size() == 1);
  CHECK(unused->warnings.front().find("every view is a play") != std::string::npos);
}
