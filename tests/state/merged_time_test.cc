#include "state/merged_time.h"

#include <catch2/catch.hpp>

#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;
constexpr int64_t kDayMs = 24LL * 3'600'000;
constexpr int64_t kFarMs = 400 * kDayMs;

}  // namespace

TEST_CASE("merged time: expiry goes by the earlier of the wall clock and a day after merged log time") {
  CHECK(expiry_now_ms(kNowMs, kNowMs - 5) == kNowMs);
  CHECK(expiry_now_ms(kNowMs + kFarMs, kNowMs) == kNowMs + kDayMs);
  CHECK(expiry_now_ms(kNowMs, kNowMs + kFarMs) == kNowMs);
  CHECK(expiry_now_ms(kNowMs - kFarMs, kNowMs) == kNowMs - kFarMs);
  CHECK(expiry_now_ms(kNowMs, std::nullopt) == 0);
}

TEST_CASE("merged time: it takes what log and wall clock agree on, and never goes back") {
  CHECK(later_merged_ms(std::nullopt, kNowMs, kNowMs + 5) == kNowMs);
  CHECK(later_merged_ms(std::nullopt, kNowMs + kFarMs, kNowMs) == kNowMs);
  CHECK(later_merged_ms(kNowMs, kNowMs - 5, kNowMs) == kNowMs);
  CHECK(later_merged_ms(kNowMs, kNowMs + 5, kNowMs - kFarMs) == kNowMs);
  CHECK_FALSE(later_merged_ms(std::nullopt, 0, kNowMs));
  CHECK_FALSE(later_merged_ms(std::nullopt, kNowMs, -1));
}

TEST_CASE("merged time: the clock of a store knows the latest time that it was given") {
  const ManualClock wall(kNowMs);
  ExpiryClock clock(wall);
  CHECK(clock.now_ms() == 0);
  clock.raise_merged_ms(kNowMs - 3 * kDayMs);
  clock.raise_merged_ms(kNowMs - 4 * kDayMs);
  clock.raise_merged_ms(std::nullopt);
  CHECK(clock.now_ms() == kNowMs - 2 * kDayMs);
  CHECK(clock.steady_ns() == wall.steady_ns());
  clock.set_merged_ms(std::nullopt);
  CHECK(clock.now_ms() == 0);
}
