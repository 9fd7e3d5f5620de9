#include "state/store/redis/redis_store_parts.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::optional<MergedWatermark> merged_to(int64_t offset) {
  MergedWatermark watermark;
  watermark.offset = Offset(offset);
  return watermark;
}

int64_t offset_of(const HeardWatermarks& heard, int32_t partition) {
  const auto watermark = heard.of(PartitionId(partition));
  REQUIRE(watermark.ok());
  return *watermark ? (*watermark)->offset.value : -1;
}

}  // namespace

TEST_CASE("heard watermarks: what this process wrote while others were asked for is not replaced by the older one") {
  HeardWatermarks heard;
  heard.hear(heard.begin_hearing(), {merged_to(10), merged_to(10)});
  const uint64_t asked = heard.begin_hearing();
  heard.note(PartitionId(0), *merged_to(20));
  heard.hear(asked, {merged_to(10), merged_to(15)});
  CHECK(offset_of(heard, 0) == 20);
  CHECK(offset_of(heard, 1) == 15);
  // A store that went back is heard by the next turn.
  heard.hear(heard.begin_hearing(), {merged_to(10), merged_to(15)});
  CHECK(offset_of(heard, 0) == 10);
  CHECK(heard.promised(PartitionId(0)).value()->offset == Offset(20));
}

TEST_CASE("heard watermarks: of two turns the one that began later counts, whichever ends last") {
  HeardWatermarks heard;
  const uint64_t first = heard.begin_hearing();
  const uint64_t second = heard.begin_hearing();
  heard.hear(second, {merged_to(20)});
  heard.hear(first, {merged_to(10)});
  CHECK(offset_of(heard, 0) == 20);
}

TEST_CASE("heard watermarks: a partition that cannot be heard says so, and hides no other one") {
  HeardWatermarks heard;
  CHECK(heard.of(PartitionId(0)).code() == Code::kRetry);
  heard.hear(heard.begin_hearing(), {merged_to(10), retry("away"), corrupt("a list")});
  CHECK(offset_of(heard, 0) == 10);
  CHECK(heard.of(PartitionId(1)).code() == Code::kRetry);
  CHECK(heard.of(PartitionId(2)).code() == Code::kCorrupt);
  heard.hear(heard.begin_hearing(), {retry("away"), merged_to(11), merged_to(12)});
  CHECK(offset_of(heard, 0) == 10);  // As it was heard before.
  CHECK(offset_of(heard, 1) == 11);
  CHECK(offset_of(heard, 2) == 12);
}
