#include "tests/support/memory_filter_store.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("memory filter store: a crash loses the newest writes since the last one made durable, never others") {
  std::mt19937_64 rng(1);
  std::vector<bool> lost_everything(2), kept_everything(2);
  for (int round = 0; round < 200; ++round) {
    MemoryBed bed;
    bed.play("u", kNow, {"a"});
    MergedWatermark watermark;
    watermark.add({Offset(0), Offset(1)}, HourIndex(1));
    const bool by_watermark = round % 2 == 0;
    REQUIRE((by_watermark ? bed.store().advance(PartitionId(0), watermark) : bed.store().sync()).ok());
    for (const char* item : {"b", "c", "d"}) bed.play("u", kNow, {item});
    bed.memory_store.crash(rng);
    const std::string seen = bed.seen("u", kNow, {"a", "b", "c", "d"});
    REQUIRE(std::string("abcd").rfind(seen, 0) == 0);
    REQUIRE(seen.size() >= 1);
    if (seen == "a") lost_everything[by_watermark] = true;
    if (seen == "abcd") kept_everything[by_watermark] = true;
    CHECK(bed.store().read_watermark(PartitionId(0)).value().has_value() == by_watermark);
  }
  CHECK((lost_everything[0] && lost_everything[1] && kept_everything[0] && kept_everything[1]));
}

TEST_CASE("memory filter store: calls fail as often as they were told to, and an apply may fail half way") {
  MemoryBed bed;
  const ItemHash item = item_hash("a");
  const std::string first = user("u1"), second = user("u2");
  const std::vector<FilterUpdate> updates = {{first, PeriodIndex(kNow), {&item, 1}},
                                             {second, PeriodIndex(kNow), {&item, 1}}};
  bed.memory_store.fail_next(3);
  CHECK(bed.store().apply(updates).code() == Code::kRetry);
  CHECK(bed.store().advance(PartitionId(0), {}).code() == Code::kRetry);
  CHECK(bed.store().read_watermark(PartitionId(0)).code() == Code::kRetry);
  CHECK(bed.seen("u1", kNow, {"a"}) == "a");
  CHECK(bed.seen("u2", kNow, {"a"}) == "");
  REQUIRE(bed.store().apply(updates).ok());
  CHECK(bed.seen("u2", kNow, {"a"}) == "a");
}
