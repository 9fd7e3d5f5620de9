#include "state/slot_length.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

MergedWatermark merged(int64_t offset, int64_t hour, int64_t slot_ms) {
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(offset)}, HourIndex(hour));
  watermark.slot_ms = slot_ms;
  return watermark;
}

}  // namespace

TEST_CASE("slot length: another one than was stored is refused with both values and the way out") {
  CHECK(check_slot_length(2'000, 2'000, "it").ok());
  CHECK(check_slot_length(0, 2'000, "it").ok());
  const Status refused = check_slot_length(2'000, 5'000, "the merged watermark");
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.message(), Catch::Contains("is 5") && Catch::Contains("the merged watermark was written with 2") &&
                                    Catch::Contains("bloomring store slot-length"));
}

TEST_CASE("slot length: with another one hours go on where the merged ones ended") {
  // Hours of 2 s up to number 9 end at 20 s.
  CHECK(with_slot_length(merged(100, 9, 2'000), 5'000, Offset(100))->hour == HourIndex(3));    // [15 s, 20 s)
  CHECK(with_slot_length(merged(100, 9, 2'000), 7'000, Offset(100))->hour == HourIndex(2));    // [14 s, 21 s)
  CHECK(with_slot_length(merged(100, 9, 2'000), 1'000, Offset(100))->hour == HourIndex(19));   // [19 s, 20 s)
  CHECK(with_slot_length(merged(100, 9, 2'000), 60'000, Offset(100))->hour == HourIndex(0));   // [0 s, 60 s)
  CHECK(*with_slot_length(merged(100, 9, 2'000), 2'000, Offset(100)) == merged(100, 9, 2'000));  // Twice.
  const auto changed = with_slot_length(merged(100, 9, 2'000), 5'000, Offset(100));
  CHECK(changed->slot_ms == 5'000);
  CHECK(changed->offset == Offset(100));
}

TEST_CASE("slot length: it is not changed while records are not merged, or where the old one is not known") {
  const Status behind = with_slot_length(merged(100, 9, 2'000), 5'000, Offset(103)).status();
  CHECK(behind.code() == Code::kInvalid);
  CHECK_THAT(behind.message(), Catch::Contains("3 records"));
  CHECK(with_slot_length(merged(100, 9, 0), 5'000, Offset(100)).code() == Code::kInvalid);
}
