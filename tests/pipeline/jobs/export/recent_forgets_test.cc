#include "pipeline/jobs/export/recent_forgets.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr uint64_t kUser = 7;
Event play(uint64_t item, int64_t time_ms) { return {EventKind::kPlay, ItemHash(item), time_ms}; }
Event forget(uint64_t item, int64_t time_ms) { return {EventKind::kForget, ItemHash(item), time_ms}; }

}  // namespace

TEST_CASE("recent forgets: a forget takes plays of its item and user that are not after it") {
  RecentForgets forgets;
  CHECK_FALSE(forgets.takes(kUser, play(1, 100)));
  forgets.note(kUser, forget(1, 100));
  forgets.note(kUser, forget(1, 50));
  CHECK(forgets.takes(kUser, play(1, 100)));
  CHECK_FALSE(forgets.takes(kUser, play(1, 101)));
  CHECK_FALSE(forgets.takes(kUser, play(2, 10)));
  CHECK_FALSE(forgets.takes(kUser + 1, play(1, 10)));
}

TEST_CASE("recent forgets: a forget of everything takes every item, and an item with the hash 0 is an item") {
  RecentForgets forgets;
  forgets.note(kUser, forget(0, 100));
  CHECK_FALSE(forgets.takes(kUser, play(5, 10)));
  forgets.note(kUser, {EventKind::kForgetAll, ItemHash(0), 100});
  CHECK(forgets.takes(kUser, play(5, 100)));
  CHECK_FALSE(forgets.takes(kUser, play(5, 101)));
}

TEST_CASE("recent forgets: the elder generation goes when the younger one is full again") {
  RecentForgets forgets(10);
  forgets.note(kUser, forget(1'000, 100));
  for (uint64_t item = 0; item < 10; ++item) forgets.note(kUser, forget(item, 100));
  CHECK(forgets.takes(kUser, play(1'000, 1)));
  for (uint64_t item = 10; item < 20; ++item) forgets.note(kUser, forget(item, 100));
  CHECK_FALSE(forgets.takes(kUser, play(1'000, 1)));
  CHECK(forgets.takes(kUser, play(19, 1)));
}
