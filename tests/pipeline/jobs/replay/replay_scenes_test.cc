// A replay takes or refuses the plays of an installation by its scenes.
#include "pipeline/jobs/replay/replay_scenes.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

using Names = std::vector<std::string>;
const ReplayScenes kNone = {}, kAny = {true, {}}, kFeed = {true, {"feed"}}, kBoth = {true, {"feed", "search"}},
                   kBothAndNone = {true, {"", "feed", "search"}};

}  // namespace

TEST_CASE("replay scenes: plays that no query would find are refused, with the way out") {
  for (const bool blocks : {false, true}) {
    for (const ReplayScenes& scenes : {kAny, kFeed}) {
      const Status refused = check_replay_scenes(scenes, kNone, blocks);
      CHECK(refused.code() == Code::kInvalid);
      CHECK_THAT(refused.message(), Catch::Contains("events.scene"));
    }
  }
  CHECK_THAT(check_replay_scenes(kBoth, kFeed, true).message(), Catch::Contains("no scene 'search'"));
  CHECK(check_replay_scenes(kAny, kBoth, true).code() == Code::kInvalid);
  CHECK(check_replay_scenes(kNone, kBoth, true).code() == Code::kInvalid);
}

TEST_CASE("replay scenes: plays whose scenes the installation has are taken") {
  for (const bool blocks : {false, true}) {
    for (const ReplayScenes& scenes : {kNone, kAny, kFeed, kBoth}) {
      CHECK(check_replay_scenes(scenes, scenes, blocks).ok());
      CHECK(check_replay_scenes(scenes, kAny, blocks).ok());
    }
    CHECK(check_replay_scenes(kFeed, kBoth, blocks).ok());
    CHECK(check_replay_scenes(kNone, kBothAndNone, blocks).ok());
  }
}

TEST_CASE("replay scenes: plays in JSON of a scene that either side does not declare are refused one by one") {
  CHECK(check_replay_scenes(kBoth, kFeed, false).ok());
  CHECK(check_replay_scenes({true, {"search"}}, kFeed, false).code() == Code::kInvalid);  // All of them.
  CHECK(mapped_scenes(kBoth, kFeed) == Names{"feed"});
  CHECK(mapped_scenes(kFeed, kBothAndNone) == Names{"feed"});
  CHECK(mapped_scenes(kAny, kFeed) == Names{"feed"});
  CHECK(mapped_scenes(kFeed, kAny) == Names{"feed"});
  CHECK(mapped_scenes(kAny, kAny).empty());
}
