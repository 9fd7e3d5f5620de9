#include "serving/query/known_scenes.h"

#include <catch2/catch.hpp>

using namespace bloomring;

TEST_CASE("known scenes: one that is noted while the replica asks whether it is behind is in the list") {
  KnownScenes known;
  known.note_stored({"search"});
  const AllScenes all = known.all([&] {
    known.note("feed");  // The partition that was behind catches up.
    return "";
  });
  CHECK(all.missing.empty());
  CHECK(all.names == std::vector<std::string>{"feed", "search"});
}

TEST_CASE("known scenes: why there may be more is told, and first that those of the filter store are not known") {
  KnownScenes known;
  const auto behind = [] { return "user-events[3] is behind"; };
  CHECK(known.all(behind).missing == "the scenes of the filter store have not been read yet");
  known.note_stored({});
  CHECK(known.all(behind).missing == "user-events[3] is behind");
  CHECK(known.all().missing.empty());
}
