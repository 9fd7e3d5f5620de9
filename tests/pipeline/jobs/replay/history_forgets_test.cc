// The forgets of a history, against a plain map.
#include "pipeline/jobs/replay/history_forgets.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace bloomring;

namespace {

Event forget(uint64_t item, int64_t time_ms) { return {EventKind::kForget, ItemHash(item), time_ms}; }
Event forget_all(int64_t time_ms) { return {EventKind::kForgetAll, ItemHash(0), time_ms}; }
Event play(uint64_t item, int64_t time_ms) { return {EventKind::kPlay, ItemHash(item), time_ms}; }

}  // namespace

TEST_CASE("history forgets: a play is taken unless it is after every forget of its item and of everything") {
  std::mt19937_64 random(7);
  HistoryForgets forgets;
  std::map<std::pair<uint64_t, uint64_t>, int64_t> items;
  std::map<uint64_t, int64_t> everything;
  for (int i = 0; i < 3'000; ++i) {
    const uint64_t user = random() % 100, item = random() % 20;  // The hash of an item may be 0.
    const int64_t time = 1'000 + static_cast<int64_t>(random() % 1'000);
    if (random() % 10 == 0) {
      REQUIRE(forgets.note(user, forget_all(time)).ok());
      everything[user] = std::max(everything[user], time);
    } else {
      REQUIRE(forgets.note(user, forget(item, time)).ok());
      items[{user, item}] = std::max(items[{user, item}], time);
    }
  }
  forgets.seal();
  CHECK(forgets.size() == items.size() + everything.size());
  for (uint64_t user = 0; user < 110; ++user) {
    for (uint64_t item = 0; item < 25; ++item) {
      for (const int64_t time : {900, 1'000, 1'500, 1'998, 1'999, 2'000}) {
        const bool taken = (items.contains({user, item}) && time <= items[{user, item}]) ||
                           (everything.contains(user) && time <= everything[user]);
        REQUIRE(forgets.takes(user, play(item, time)) == taken);
      }
    }
  }
}

TEST_CASE("history forgets: repeats take no room, and more than the bound are refused") {
  HistoryForgets forgets(100);
  for (int i = 0; i < 10'000; ++i) REQUIRE(forgets.note(1, forget(static_cast<uint64_t>(i % 50), i)).ok());
  forgets.seal();
  CHECK(forgets.size() == 50);
  CHECK(forgets.takes(1, play(49, 9'999)));
  CHECK_FALSE(forgets.takes(1, play(49, 10'000)));
  Status noted;
  for (uint64_t item = 1'000; item < 1'100 && noted.ok(); ++item) noted = forgets.note(2, forget(item, 5));
  CHECK(noted.code() == Code::kInvalid);
  CHECK(noted.message().find("later --from") != std::string::npos);
}
