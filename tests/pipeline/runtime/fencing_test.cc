#include "pipeline/runtime/fencing.h"

#include <catch2/catch.hpp>

namespace bloomring {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace

TEST_CASE("fenced: who loses a place in the group twice within a minute has a rival and gives up") {
  Fencing fencing;
  CHECK(fencing.joins_again(/*had_place=*/true, 100 * kSecondNs));
  CHECK(fencing.may_join(100 * kSecondNs));
  CHECK_FALSE(fencing.joins_again(true, 159 * kSecondNs));
}

TEST_CASE("fenced: the loss of a place more than a minute after another one tells no rival") {
  Fencing fencing;
  CHECK(fencing.joins_again(true, 100 * kSecondNs));
  CHECK(fencing.joins_again(true, 160 * kSecondNs));
  CHECK_FALSE(fencing.joins_again(true, 219 * kSecondNs));
}

TEST_CASE("fenced: who waits for a place joins again for as long as a coordinator cannot keep its members") {
  Fencing fencing;
  CHECK(fencing.joins_again(true, 100 * kSecondNs));
  for (int64_t s = 105; s < 155; s += 5) {
    CHECK(fencing.joins_again(/*had_place=*/false, s * kSecondNs));
    CHECK_FALSE(fencing.may_join(s * kSecondNs));
    CHECK(fencing.may_join((s + 1) * kSecondNs));
  }
  CHECK_FALSE(fencing.joins_again(true, 156 * kSecondNs));
}

}  // namespace bloomring
