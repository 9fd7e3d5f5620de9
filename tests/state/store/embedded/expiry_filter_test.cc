#include "state/store/embedded/expiry_filter.h"

#include <catch2/catch.hpp>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("embedded filter store: compactions drop what has expired and keep the rest") {
  EmbeddedBed bed;
  for (int u = 0; u < 50; ++u) {
    bed.play("u" + std::to_string(u), kNow, {"a"});
    bed.play("u" + std::to_string(u), kNow - 3, {"b"});
    if (u % 7 == 0) bed.settle();
  }
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow - 3 + 8)));
  bed.settle();
  CHECK(bed.store().stats().expired_dropped == 50);
  CHECK(bed.scanned() == 50);
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 8)));
  bed.play("new", kNow + 8, {"c"});
  bed.settle();
  bed.clock.advance_to_ms(kNowMs);  // Only dropped filters are gone: reads hide nothing at this time.
  CHECK(bed.scanned() == 1);
}

TEST_CASE("embedded filter store: what was forgotten goes with the last filter that it could speak of") {
  EmbeddedBed bed;
  bed.forget_everything("u1", bed.calendar.start_ms(PeriodIndex(kNow)), 0, 0);
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 7)) - 1);
  bed.settle();
  CHECK_FALSE(bed.forgotten("u1").empty());
  bed.pass_to_ms(bed.calendar.start_ms(PeriodIndex(kNow + 8)));
  bed.settle();
  CHECK(bed.forgotten("u1").empty());
}
