#include "pipeline/topics/topic_check.h"

#include <catch2/catch.hpp>

#include "base/config/finding.h"

using namespace bloomring;

namespace {

TopicSpec spec_of(TopicRole role, const std::string& name) { return {&topic_row(topic_rows(), role), name}; }

}  // namespace

TEST_CASE("topics: a topic of plays that is missing is told by key, place and the names that are like it") {
  const std::vector<std::string> there = {"__consumer_offsets", "orders", "video-plays-eu", "video-plays", "v"};
  const SetupFinding found = finding_of(missing_topic(spec_of(TopicRole::kPlays, "video-play"), "site.yaml:3", there));
  CHECK(found.key == "topics.plays");
  CHECK(found.value == "video-play");
  CHECK(found.place == "site.yaml:3");
  CHECK(found.reason == "topics.plays is video-play: no such topic exists, or this user may not see it");
  CHECK(found.way_out ==
        "name one that exists (did you mean video-plays, video-plays-eu?), or make it with `bloomring topics --execute "
        "--create-plays`");
  const SetupFinding alone = finding_of(missing_topic(spec_of(TopicRole::kPlays, "video-play"), "", {"orders"}));
  CHECK(alone.place == "");
  CHECK(alone.way_out == "name one that exists, or make it with `bloomring topics --execute --create-plays`");
}

TEST_CASE("topics: a topic of ours that is missing is told with the names that are like it") {
  const TopicSpec ours = spec_of(TopicRole::kUserEvents, "user-event");
  CHECK(missing_topic(ours, "", {"orders", "user-events"}) ==
        "topic user-event does not exist, or this user may not see it; did you mean user-events? Otherwise `bloomring "
        "topics --execute` creates it");
  CHECK(missing_topic(ours, "", {"orders"}) ==
        "topic user-event does not exist, or this user may not see it; `bloomring topics --execute` creates it");
}
