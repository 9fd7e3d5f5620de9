#include "state/store/embedded/store_check.h"

#include <catch2/catch.hpp>

#include "schemas/store_key.h"
#include "state/store/embedded/store_backup.h"
#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

StoreCheck check(EmbeddedBed& bed) {
  auto found = check_store(bed.config(), bed.calendar, bed.clock, bed.memory());
  INFO(found.status().message());
  REQUIRE(found.ok());
  return *found;
}

}  // namespace

TEST_CASE("store check: it reads every filter and watermark while the writer runs, and counts what is damaged") {
  EmbeddedBed bed;
  for (int u = 0; u < 50; ++u) bed.play("u" + std::to_string(u), kNow, {"a", "b"});
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(7)}, HourIndex(1));
  REQUIRE(bed.store().advance(PartitionId(1), watermark).ok());
  const StoreCheck sound = check(bed);
  CHECK(sound.sound());
  CHECK(sound.filters == 50);
  CHECK(sound.items == 100);
  CHECK(sound.watermarks.at(PartitionId(1)).offset == Offset(7));
  bed.damage("u7", kNow);
  const StoreCheck damaged = check(bed);
  CHECK(damaged.damaged == 1);
  REQUIRE(damaged.damages.size() == 1);
  CHECK_THAT(damaged.damages[0], Catch::Contains(user_hash_text(user("u7"))));
}
