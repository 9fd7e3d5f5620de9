#include "operators/refusal_watch.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

RefusedRecord at(int64_t offset) {
  return {"video-plays", PartitionId(3), Offset(offset), Refusal::kMissingField, "events.user 'uid': field missing"};
}

}  // namespace

TEST_CASE("refusal watch: the first refusal is warned of at once, with its place and reason") {
  RefusalWatch watch(0.1);
  watch.note(1'000, 50, 0, {});
  CHECK_FALSE(watch.take_warning(1'000));
  watch.note(1'250, 50, 2, at(17));
  const auto warning = watch.take_warning(1'250);
  REQUIRE(warning);
  CHECK(warning->refused == 2);
  CHECK(warning->read == 100);
  CHECK(to_string(warning->first) == "video-plays[3] at offset 17: missing_field: events.user 'uid': field missing");
}

TEST_CASE("refusal watch: a minute has one warning, which counts all and names the first since the last") {
  RefusalWatch watch(0.1);
  watch.note(0, 1, 1, at(1));
  REQUIRE(watch.take_warning(0));
  for (int64_t ms = 250; ms < RefusalWatch::kWarnIntervalMs; ms += 250) {
    watch.note(ms, 10, 10, at(ms));
    REQUIRE_FALSE(watch.take_warning(ms));
  }
  const auto warning = watch.take_warning(RefusalWatch::kWarnIntervalMs);
  REQUIRE(warning);
  CHECK(warning->refused == 2'390);
  CHECK(warning->first.offset == Offset(250));
  CHECK_FALSE(watch.take_warning(10 * RefusalWatch::kWarnIntervalMs));
}

TEST_CASE("refusal watch: more than the share of a minute is degraded, and it passes when the minute has") {
  RefusalWatch watch(0.1);
  watch.note(5'000, 100, 10, at(1));
  CHECK(watch.share(5'000) == Approx(0.1));
  CHECK_FALSE(watch.degraded(5'000));
  watch.note(6'000, 100, 11, at(2));
  CHECK(watch.degraded(6'000));
  CHECK(watch.last().offset == Offset(2));
  CHECK(watch.degraded(59'999));
  CHECK_FALSE(watch.degraded(66'000));
  CHECK(watch.share(66'000) == 0);
}

TEST_CASE("refusal watch: a few records are no share") {
  RefusalWatch watch(0.1);
  watch.note(0, RefusalWatch::kRecordsMin - 1, RefusalWatch::kRecordsMin - 1, at(1));
  CHECK_FALSE(watch.degraded(0));
  watch.note(0, 1, 0, {});
  CHECK(watch.degraded(0));
}
