#include "operators/merge_progress.h"

#include <catch2/catch.hpp>

#include "tests/support/sealed_slot_end.h"

using namespace bloomring;

namespace {

using End = MergeProgress::End;
constexpr int64_t kSlotMs = 1'000;
constexpr int64_t kWallMs = 1'000'000;

// A drain of one hour whose offsets are [from, to).
DrainHeader drain(int64_t from, int64_t to) { return {PartitionId(0), 1, {Offset(from), Offset(to)}}; }
SlotEnd end_of(const DrainHeader& header, int64_t hour, const std::vector<std::string>& batches) {
  return testing::slot_end_of(header, {{HourIndex(hour), header.range}}, batches);
}
MergeProgress progress_at(std::optional<MergedWatermark> watermark) {
  return MergeProgress(std::move(watermark), kSlotMs, SumKey{});
}
// The batches of one drain are applied.
void apply(MergeProgress& progress, const DrainHeader& header, const std::vector<std::string>& batches) {
  for (const std::string& batch : batches) {
    progress.begin_batch(header);
    progress.applied(batch);
  }
}

}  // namespace

TEST_CASE("merge progress: a slot end moves the watermark when every batch of its drain was applied, once or twice") {
  MergeProgress progress = progress_at(std::nullopt);
  const DrainHeader header = drain(0, 10);
  for (const char* batch : {"a", "b", "a"}) {
    CHECK(progress.begin_batch(header));
    progress.applied(batch);
  }
  REQUIRE(progress.end_slot(end_of(header, 5, {"b", "a"}), kWallMs) == End::kMoves);  // In any order.
  CHECK_FALSE(progress.watermark());                                                 // Not before all is durable.
  progress.advanced();
  CHECK(progress.watermark() == MergedWatermark{Offset(10), HourIndex(5), {}, 6 * kSlotMs, kSlotMs});
}

TEST_CASE("merge progress: a slot end moves nothing while a batch of its drain was not seen") {
  MergeProgress progress = progress_at(std::nullopt);
  const DrainHeader header = drain(0, 10);
  apply(progress, header, {"a"});
  SECTION("one is missing") { CHECK(progress.end_slot(end_of(header, 5, {"a", "b"}), kWallMs) == End::kIncomplete); }
  SECTION("one is too many") { CHECK(progress.end_slot(end_of(header, 5, {}), kWallMs) == End::kIncomplete); }
  SECTION("they are of another drain") {
    CHECK(progress.end_slot(end_of(drain(0, 11), 5, {"a"}), kWallMs) == End::kIncomplete);
  }
  SECTION("another drain came between") {
    apply(progress, drain(10, 20), {"b"});
    CHECK(progress.end_slot(end_of(header, 5, {"a"}), kWallMs) == End::kIncomplete);
  }
  CHECK_FALSE(progress.watermark());
}

TEST_CASE("merge progress: a slot end moves nothing when other batches were read than it names") {
  MergeProgress progress = progress_at(std::nullopt);
  apply(progress, drain(0, 10), {"a", "forged"});
  CHECK(progress.end_slot(end_of(drain(0, 10), 5, {"a", "b"}), kWallMs) == End::kDiffers);
  CHECK_FALSE(progress.watermark());
}

TEST_CASE("merge progress: a drain run again with the same head counts, whatever was read before its last end") {
  // Two hours that a lap joined: every further run of their drain has the same head, and a quiet partition no other.
  const DrainHeader header = drain(0, 10);
  MergeProgress progress = progress_at(std::nullopt);
  apply(progress, header, {"cut for less memory", "the rest"});  // A restart with other settings came between.
  apply(progress, header, {"whole"});
  CHECK(progress.end_slot(end_of(header, 5, {"whole"}), kWallMs) == End::kIncomplete);
  apply(progress, header, {"whole"});
  CHECK(progress.end_slot(end_of(header, 5, {"whole"}), kWallMs) == End::kMoves);
}

TEST_CASE("merge progress: a slot end without the store's keyed sum moves nothing, with or without batches") {
  const bool batches = GENERATE(false, true);
  const DrainHeader header = drain(0, 10);
  const std::vector<std::string> read = batches ? std::vector<std::string>{"a"} : std::vector<std::string>{};
  SlotEnd end = end_of(header, 5, read);
  End expected = End::kForged;
  SECTION("none at all") { end.keyed_sum = 0; }
  SECTION("that of another key") { end.keyed_sum = slot_end_sum(end, {1, 0}); }
  SECTION("that of another range") { end.hours[0].range.to = end.header.range.to = Offset(INT64_MAX); }
  SECTION("that of another hour") { end.hours[0].hour = HourIndex(6); }
  SECTION("that of another partition") { end.header.partition = PartitionId(1); }
  SECTION("an earlier version") {
    end.version = kSlotEndVersionWithoutSum;
    expected = End::kUnsummed;
  }
  MergeProgress progress = progress_at(std::nullopt);
  apply(progress, drain(0, 10), read);
  CHECK(progress.end_slot(end, kWallMs) == expected);
  CHECK_FALSE(MergeProgress::describe(expected).empty());
  CHECK_FALSE(progress.watermark());
  CHECK(progress.end_slot(end_of(header, 5, read), kWallMs) == End::kMoves);  // The honest one still counts.
}

TEST_CASE("merge progress: batches of a merged range are skipped, and a slot end of merged hours moves nothing") {
  MergeProgress progress = progress_at(MergedWatermark{Offset(10), HourIndex(5), {}});
  const DrainHeader again = drain(0, 10);
  CHECK_FALSE(progress.begin_batch(again));
  CHECK(progress.end_slot(end_of(again, 5, {"a"}), kWallMs) == End::kCovered);
  CHECK(progress.begin_batch(drain(5, 15)));
}

TEST_CASE("merge progress: an hour without batches moves the watermark ahead of a missing one, and not the clock") {
  MergeProgress progress = progress_at(MergedWatermark{Offset(10), HourIndex(5), {}});
  REQUIRE(progress.end_slot(end_of(drain(20, 30), 7, {}), kWallMs) == End::kMoves);
  progress.advanced();
  CHECK(progress.watermark()->offset == Offset(10));
  CHECK(progress.watermark()->ahead == std::vector<OffsetRange>{{Offset(20), Offset(30)}});
  // Hours may be numbered far ahead of log time; the time that expires filters is not (state/merged_time.h).
  REQUIRE(progress.end_slot(end_of(drain(10, 20), INT64_MAX / 2, {}), kWallMs) == End::kMoves);
  CHECK(progress.moved().offset == Offset(30));
  CHECK(*progress.moved().merged_ms < INT64_MAX / 2);
}
