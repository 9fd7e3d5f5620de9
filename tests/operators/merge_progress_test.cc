#include "operators/merge_progress.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

using End = MergeProgress::End;
constexpr int64_t kSlotMs = 1'000;
constexpr int64_t kWallMs = 1'000'000;

// A drain of one hour whose offsets are [from, to).
DrainHeader drain(int64_t from, int64_t to) { return {PartitionId(0), 1, {Offset(from), Offset(to)}}; }
SlotEnd end_of(const DrainHeader& header, int64_t hour, uint64_t records) {
  return {header, {{HourIndex(hour), header.range}}, records, records, records};
}

}  // namespace

TEST_CASE("merge progress: a slot end moves the watermark when every batch of its drain was applied, once or twice") {
  MergeProgress progress(std::nullopt, kSlotMs);
  const DrainHeader header = drain(0, 10);
  for (const char* batch : {"a", "b", "a"}) {
    CHECK(progress.begin_batch(header));
    progress.applied(batch);
  }
  REQUIRE(progress.end_slot(end_of(header, 5, 2), kWallMs) == End::kMoves);
  CHECK_FALSE(progress.watermark());  // Not before everything is durable.
  progress.advanced();
  CHECK(progress.watermark() == MergedWatermark{Offset(10), HourIndex(5), {}, 6 * kSlotMs, kSlotMs});
}

TEST_CASE("merge progress: a slot end moves nothing while a batch of its drain was not seen") {
  MergeProgress progress(std::nullopt, kSlotMs);
  const DrainHeader header = drain(0, 10);
  progress.begin_batch(header);
  progress.applied("a");
  SECTION("one is missing") { CHECK(progress.end_slot(end_of(header, 5, 2), kWallMs) == End::kIncomplete); }
  SECTION("they are of another drain") {
    CHECK(progress.end_slot(end_of(drain(0, 11), 5, 1), kWallMs) == End::kIncomplete);
  }
  SECTION("another drain came between") {
    progress.begin_batch(drain(10, 20));
    progress.applied("b");
    CHECK(progress.end_slot(end_of(header, 5, 1), kWallMs) == End::kIncomplete);
  }
  CHECK_FALSE(progress.watermark());
}

TEST_CASE("merge progress: batches of a merged range are skipped, and a slot end of merged hours moves nothing") {
  MergeProgress progress(MergedWatermark{Offset(10), HourIndex(5), {}}, kSlotMs);
  const DrainHeader again = drain(0, 10);
  CHECK_FALSE(progress.begin_batch(again));
  CHECK(progress.end_slot(end_of(again, 5, 1), kWallMs) == End::kCovered);
  CHECK(progress.begin_batch(drain(5, 15)));
}

TEST_CASE("merge progress: an hour without batches moves the watermark ahead of a missing one, and not the clock") {
  MergeProgress progress(MergedWatermark{Offset(10), HourIndex(5), {}}, kSlotMs);
  REQUIRE(progress.end_slot(end_of(drain(20, 30), 7, 0), kWallMs) == End::kMoves);
  progress.advanced();
  CHECK(progress.watermark()->offset == Offset(10));
  CHECK(progress.watermark()->ahead == std::vector<OffsetRange>{{Offset(20), Offset(30)}});
  // Hours may be numbered far ahead of log time; the time that expires filters is not (state/merged_time.h).
  REQUIRE(progress.end_slot(end_of(drain(10, 20), INT64_MAX / 2, 0), kWallMs) == End::kMoves);
  CHECK(progress.moved().offset == Offset(30));
  CHECK(*progress.moved().merged_ms < INT64_MAX / 2);
}
