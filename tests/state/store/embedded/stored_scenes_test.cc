#include <catch2/catch.hpp>

#include "state/store/embedded/embedded_filter_follower.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"
#include "tests/support/numbered_plays.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("stored scenes: each scene is found once, whichever shards its users are in and whatever bytes it has") {
  const Folder folder;
  const ManualClock clock(kPlaysNowMs);
  const StateMemory memory{plays_memory()};
  const Calendar calendar = plays_calendar();
  const auto writer = EmbeddedFilterStore::open(plays_store(folder / "store"), calendar, clock, memory);
  REQUIRE(writer.status().message() == "");
  const auto found = [&] {
    auto follower = EmbeddedFilterFollower::follow(plays_store(folder / "store"), calendar, clock, memory).value();
    return follower->scenes().value();
  };
  CHECK(found().empty());
  const std::string last(kIdBytesMax, '\xff');
  const std::set<std::string> scenes = {"", "feed", "feee", "fee", "\xff", last};
  const ItemHash item = item_hash("v1");
  for (const std::string& scene : scenes) {
    for (int user = 0; user < 300; ++user) {
      const UserKey key(scene, user == 0 ? last : "u" + std::to_string(user));
      const FilterUpdate update{key.bytes(), play_period(0), {&item, 1}};
      REQUIRE((*writer)->apply(std::span(&update, 1)).ok());
    }
  }
  REQUIRE((*writer)->sync().ok());
  CHECK(found() == scenes);
}
