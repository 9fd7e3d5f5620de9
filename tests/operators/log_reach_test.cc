#include "operators/log_reach.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {
constexpr int64_t kSecond = 1'000'000'000;
}

TEST_CASE("log reach: a reader is behind from the last asking whose end it has reached") {
  LogReach reach(0);
  reach.update_end(Offset(10), 1 * kSecond);
  reach.reach(Offset(9));
  CHECK(reach.behind_ns(5 * kSecond) == 5 * kSecond);
  reach.reach(Offset(10));
  CHECK(reach.behind_ns(5 * kSecond) == 4 * kSecond);
  reach.update_end(Offset(10), 4 * kSecond);
  CHECK(reach.behind_ns(5 * kSecond) == 1 * kSecond);
}

TEST_CASE("log reach: while nobody tells where the log ends, a reader at its end falls behind all the same") {
  LogReach reach(0);
  reach.update_end(Offset(0), 0);
  reach.reach(Offset(0));
  int64_t last_ns = -1;
  for (int64_t now_s = 0; now_s < 100; ++now_s) {
    CHECK(reach.behind_ns(now_s * kSecond) > last_ns);
    last_ns = reach.behind_ns(now_s * kSecond);
  }
  CHECK(last_ns == 99 * kSecond);
}

TEST_CASE("log reach: a reader that is always two seconds behind a growing log is two seconds behind") {
  LogReach reach(0);
  for (int64_t now_s = 0; now_s < 1000; ++now_s) {
    reach.update_end(Offset(100 * now_s), now_s * kSecond);
    reach.reach(Offset(100 * (now_s - 2)));
  }
  CHECK(reach.behind_ns(999 * kSecond) == 2 * kSecond);
}

TEST_CASE("log reach: a backlog that is not worked off grows older, and is over when its end is reached") {
  LogReach reach(0);
  for (int64_t now_s = 0; now_s < 100; ++now_s) reach.update_end(Offset(1000 + now_s), now_s * kSecond);
  reach.reach(Offset(999));
  CHECK(reach.behind_ns(100 * kSecond) == 100 * kSecond);
  reach.reach(Offset(2000));
  CHECK(reach.behind_ns(100 * kSecond) == 1 * kSecond);
}

TEST_CASE("log reach: an answer that comes out of order makes nothing older than it was") {
  LogReach reach(0);
  reach.update_end(Offset(5), 10 * kSecond);
  reach.reach(Offset(5));
  reach.update_end(Offset(3), 2 * kSecond);
  CHECK(reach.behind_ns(10 * kSecond) == 0);
  CHECK(reach.behind_ns(9 * kSecond) == 0);
}
