// Users with thousands of plays in a month, whose filters take the dense form, and candidates for them.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/serving_world.h"

namespace bloomring {

// A user who has played so many items in each month of the window, all merged and let go by memory.
struct HeavyUser {
  std::string name;
  size_t plays_per_month;
};
inline const std::vector<HeavyUser> kHeavyUsers = {{"u5000", 5'000}, {"u11355", 11'355}, {"u20000", 20'000}};

// Item i of a month: [0, plays) were played, those from kUnplayed on were not.
inline constexpr uint64_t kUnplayed = 1'000'000;
inline std::string heavy_item(const HeavyUser& user, int month, uint64_t i) {
  return user.name + "/" + std::to_string(month) + "/" + std::to_string(i);
}

inline void play_and_merge(ServingWorld& world, const HeavyUser& user, int months) {
  for (int month = 0; month < months; ++month) {
    std::vector<ItemHash> items;
    for (uint64_t i = 0; i < user.plays_per_month; ++i) items.push_back(item_hash(heavy_item(user, month, i)));
    world.play_all(user.name, items, kStartMs - month * 30 * 24 * kHourMs);
  }
  world.merge();
  world.advance_hours(7);
  world.release();
  REQUIRE(world.store.count_dense(UserKey("", user.name).bytes()) == static_cast<size_t>(months));
}

struct Candidates {
  std::vector<std::string> items;
  std::vector<ItemHash> ids;
  std::vector<bool> played;
};

enum class Mix { kPlayed, kUnseen, kBoth };

inline Candidates candidates(const HeavyUser& user, int months, size_t count, Mix mix) {
  Candidates made;
  for (size_t c = 0; c < count; ++c) {
    const bool played = mix == Mix::kPlayed || (mix == Mix::kBoth && c / static_cast<size_t>(months) % 2 == 0);
    const int month = static_cast<int>(c % static_cast<size_t>(months));
    made.items.push_back(heavy_item(user, month, played ? c % user.plays_per_month : kUnplayed + c));
    made.played.push_back(played);
  }
  made.ids = hash_all(made.items);
  return made;
}

}  // namespace bloomring
