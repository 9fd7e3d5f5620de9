#include "operators/replica_start.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

MergedWatermark merged(int64_t offset) {
  MergedWatermark watermark;
  watermark.offset = Offset(offset);
  watermark.hour = HourIndex(7);
  return watermark;
}

ReplicaStartFacts facts(std::optional<MergedWatermark> watermark, int64_t log_start, int64_t log_end,
                        std::optional<Offset> young = std::nullopt) {
  return {{std::move(watermark), Offset(log_start), Offset(log_end)}, young};
}

}  // namespace

TEST_CASE("replica start: recent plays begin at the watermark, what was served where it is young enough") {
  const auto start = decide_replica_start(facts(merged(150), 100, 300, Offset(120)));
  REQUIRE(start.ok());
  CHECK(start->merged == Offset(150));
  CHECK(start->first_hour == HourIndex(8));
  CHECK(start->read_from == Offset(120));
  CHECK(start->lost_below == Offset(0));
  CHECK(decide_replica_start(facts(merged(150), 100, 300, Offset(250)))->read_from == Offset(150));
  CHECK(decide_replica_start(facts(merged(150), 100, 300))->read_from == Offset(150));
}

TEST_CASE("replica start: a log that ends before the watermark is refused, with the numbers and the way out") {
  const auto start = decide_replica_start(facts(merged(400), 0, 300, Offset(0)));
  REQUIRE(start.code() == Code::kRetry);
  CHECK_THAT(start.status().message(), Catch::Contains("below offset 400") && Catch::Contains("ends at 300") &&
                                           Catch::Contains("store new-log"));
  CHECK(decide_replica_start(facts(merged(300), 0, 300)).ok());
  CHECK(decide_replica_start(facts(merged(1), 0, 0)).code() == Code::kRetry);
}

TEST_CASE("replica start: a log that ends before what is merged beyond a gap is refused") {
  MergedWatermark watermark = merged(150);
  watermark.add({Offset(250), Offset(350)}, HourIndex(9));
  CHECK(decide_replica_start(facts(watermark, 0, 349)).code() == Code::kRetry);
  CHECK(decide_replica_start(facts(watermark, 0, 350)).ok());
}

TEST_CASE("replica start: what the log lost before it was merged is a gap until the watermark has passed it") {
  const auto start = decide_replica_start(facts(merged(100), 175, 300, Offset(180)));
  REQUIRE(start.ok());
  CHECK(start->merged == Offset(175));
  CHECK(start->read_from == Offset(175));
  CHECK(start->lost_below == Offset(175));
  CHECK(decide_replica_start(facts(std::nullopt, 175, 300))->lost_below == Offset(175));
  CHECK(decide_replica_start(facts(merged(175), 175, 300))->lost_below == Offset(0));
}

TEST_CASE("replica start: behind a gap that was filled the hour is later than all that were merged beyond it") {
  constexpr int64_t kSlotMs = 1000;
  MergedWatermark watermark;
  watermark.add({Offset(10), Offset(20)}, HourIndex(8));
  watermark.merged_ms = 9 * kSlotMs;
  watermark.add({Offset(0), Offset(10)}, HourIndex(7));
  REQUIRE(watermark.offset == Offset(20));
  CHECK(decide_replica_start(facts(watermark, 0, 30))->first_hour == HourIndex(8));  // How long hours are is not known.
  watermark.slot_ms = kSlotMs;
  CHECK(decide_replica_start(facts(watermark, 0, 30))->first_hour == HourIndex(9));
  watermark.merged_ms = 9 * kSlotMs - 300;  // Its clock was behind.
  CHECK(decide_replica_start(facts(watermark, 0, 30))->first_hour == HourIndex(9));
}

TEST_CASE("replica start: an empty log that nothing was merged from is read from its start") {
  const auto start = decide_replica_start(facts(std::nullopt, 0, 0));
  REQUIRE(start.ok());
  CHECK(start->merged == Offset(0));
  CHECK(start->read_from == Offset(0));
  CHECK(start->lost_below == Offset(0));
}

TEST_CASE("replica start: served items are read from a time that no clock of this machine puts off") {
  constexpr int64_t kHour = 3'600'000, kYear = 365 * 24 * kHour;
  constexpr int64_t now = 8 * kHour;  // The hour after the watermark's begins.
  CHECK(served_since_ms(merged(0), kHour, now, kHour) == 7 * kHour);
  CHECK(served_since_ms(merged(0), kHour, now + kYear, kHour) == 7 * kHour);
  CHECK(served_since_ms(merged(0), kHour, now - 4 * kHour, kHour) == 3 * kHour);
  CHECK(served_since_ms(std::nullopt, kHour, now, kHour) == 7 * kHour);
  CHECK(served_since_ms(merged(0), kHour, 0, kHour) == 0);
}
