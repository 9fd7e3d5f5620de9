#include "pipeline/runtime/opening.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {
constexpr int64_t kSecondNs = 1'000'000'000;
}

TEST_CASE("opening: what takes long is told after three seconds and every ten, with the partition and what it does") {
  Opening opening("opens its local state");
  CHECK(opening.doing().empty());
  opening.begin("user-events[4]", 0);
  CHECK(opening.doing() == "opens its local state of user-events[4], after 0 other partitions");
  CHECK_FALSE(opening.due(3 * kSecondNs - 1));
  opening.end();
  CHECK(opening.doing().empty());
  CHECK_FALSE(opening.due(3 * kSecondNs));
  opening.begin("user-events[7]", 3 * kSecondNs);
  CHECK(opening.due(4 * kSecondNs) ==
        "opens its local state of user-events[7], after 1 other partition, for 4 s in all");
  CHECK_FALSE(opening.due(13 * kSecondNs));
  CHECK(opening.due(14 * kSecondNs) ==
        "opens its local state of user-events[7], after 1 other partition, for 14 s in all");
}

TEST_CASE("opening: a later assignment is counted by itself") {
  Opening opening("opens its local state");
  opening.begin("user-events[4]", 0);
  opening.end();
  opening.all_done();
  opening.begin("user-events[5]", 100 * kSecondNs);
  CHECK_FALSE(opening.due(102 * kSecondNs));
  CHECK(opening.due(103 * kSecondNs) ==
        "opens its local state of user-events[5], after 0 other partitions, for 3 s in all");
}
