#include "pipeline/runtime/catch_up.h"

#include <catch2/catch.hpp>

#include "pipeline/runtime/runtime_metrics.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {
constexpr int64_t kSecondNs = 1'000'000'000;
}

TEST_CASE("catch up: what is left is told in events, with the rate and the time to go") {
  CatchUp work;
  work.begin(PartitionId(0), Offset(100), Offset(200), 0);
  work.begin(PartitionId(1), Offset(0), Offset(100), 0);
  CHECK(work.progress(0)->records_left == 200);
  CHECK(work.progress(0)->events_left == 0);  // Nobody knows how many events a record has.
  work.note(PartitionId(0), Offset(150), 50'000);
  const auto left = work.progress(5 * kSecondNs);
  REQUIRE(left);
  CHECK(left->partitions == 2);
  CHECK(left->records_left == 150);
  CHECK(left->events_left == 150'000);
  CHECK(left->events_per_second == Approx(10'000));
  CHECK(left->seconds_left == Approx(15));
}

TEST_CASE("catch up: a partition is there at the end that its log had at the start, and later records do not count") {
  CatchUp work;
  work.begin(PartitionId(0), Offset(0), Offset(10), 0);
  work.note(PartitionId(0), Offset(9), 90);
  CHECK(work.progress(kSecondNs)->records_left == 1);
  work.note(PartitionId(0), Offset(12), 120);
  CHECK_FALSE(work.progress(kSecondNs));
  work.note(PartitionId(0), Offset(500), 5000);
  CHECK_FALSE(work.progress(kSecondNs));
  CHECK(work.events() == 120);
}

TEST_CASE("catch up: nothing to read, or given away, is nothing left") {
  CatchUp work;
  work.begin(PartitionId(0), Offset(7), Offset(7), 0);
  CHECK_FALSE(work.progress(0));
  work.begin(PartitionId(1), Offset(0), Offset(7), 0);
  CHECK(work.progress(0));
  work.remove(PartitionId(1));
  CHECK_FALSE(work.progress(0));
}

TEST_CASE("catch up: a stage tells metrics while something is left, and zeros when it is there") {
  ManualClock clock(0);
  Metrics metrics;
  CatchUpReport report("window", clock, metrics);
  CHECK(report.text().empty());
  report.begin(PartitionId(3), Offset(0), Offset(10));
  CHECK(report.text() == "1 partitions, 10 records to go");
  clock.advance_ms(2'000);
  report.note(PartitionId(3), Offset(5), 1'000);
  CHECK(report.text() == "1 partitions, 1000 events, 2 s to go");
  CHECK(metrics.gauge(metric::kRebuildEventsLeft, {"window"}).value() == 1000);
  CHECK(metrics.gauge(metric::kRebuildRate, {"window"}).value() == Approx(500));
  CHECK(metrics.gauge(metric::kRebuildSecondsLeft, {"window"}).value() == Approx(2));
  report.note(PartitionId(3), Offset(10), 2'000);
  CHECK(report.text().empty());
  CHECK(metrics.gauge(metric::kRebuildEventsLeft, {"window"}).value() == 0);
}
