#include "pipeline/page/trends.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr double kEnds[] = {0.1, 0.2};
constexpr int64_t kSecondNs = 1'000'000'000;

// Takes a sample every two seconds, as the looking thread does.
struct Rig {
  Trends trends;
  int64_t now_s = 1'000;
  TrendSample sample{{{"window", 0}}, {kEnds, {0, 0, 0}}, {kEnds, {0, 0, 0}}, {kEnds, {0, 0, 0}}};

  void run(int64_t seconds, int64_t records_a_second, uint64_t calls_a_second = 0) {
    for (int64_t passed = 0; passed < seconds; passed += 2) {
      trends.take(now_s * kSecondNs, sample);
      now_s += 2;
      sample.records["window"] += 2 * records_a_second;
      sample.calls.counts[0] += 2 * calls_a_second;
      sample.filters.counts[0] += 2 * calls_a_second;
    }
  }
  Trend trend(const std::string& figure) const {
    for (Trend& one : trends.report()) {
      if (one.figure == figure) return one;
    }
    FAIL("no figure " << figure);
    return {};
  }
};

}  // namespace

TEST_CASE("trends: a rate has a value for each step, and one over the last minute") {
  Rig rig;
  rig.run(32, 100);
  rig.run(64, 10);
  const Trend records = rig.trend("records_per_second");
  CHECK(records.stage == "window");
  REQUIRE(records.points.size() == 5);
  CHECK(records.points[0] == 100.0);
  CHECK(records.points[4] == 10.0);
  CHECK(records.last_minute == 10.0);
  CHECK(records.most() == 100.0);
  CHECK(records.least() == 10.0);
}

TEST_CASE("trends: a quarter of an hour is kept, whatever came before") {
  Rig rig;
  rig.run(600, 1'000);
  rig.run(Trends::kSteps * 16 + 16, 1);
  const Trend records = rig.trend("records_per_second");
  CHECK(records.points.size() == Trends::kSteps);
  CHECK(records.most() == 1.0);
}

TEST_CASE("trends: percentiles are those of the step, and a step without an observation has none") {
  Rig rig;
  rig.run(16, 0, 5);
  rig.run(16, 0, 0);
  rig.sample.freshness.counts[1] += 4;
  rig.run(16, 0, 0);
  rig.run(2, 0, 0);
  const Trend filter = rig.trend("filter_p50_seconds");
  REQUIRE(filter.points.size() == 3);
  CHECK(filter.points[0] == Approx(0.05));
  CHECK_FALSE(filter.points[1]);
  CHECK_FALSE(filter.points[2]);
  CHECK(filter.least() == filter.most());
  const Trend freshness = rig.trend("freshness_p99_seconds");
  CHECK_FALSE(freshness.points[0]);
  CHECK(freshness.last_minute == Approx(0.199));
  CHECK(rig.trend("calls_per_second").points[0] == 5.0);
  CHECK(rig.trend("calls_per_second").points[1] == 0.0);
}

TEST_CASE("trends: a process without calls has rates of its stages alone, and before two looks there is no value") {
  Trends trends;
  CHECK(trends.report().empty());
  trends.take(kSecondNs, {.records = {{"ingest", 5}, {"merge", 7}}});
  const std::vector<Trend> first = trends.report();
  REQUIRE(first.size() == 2);
  CHECK(first[0].title == "records a second of ingest");
  CHECK_FALSE(first[0].last_minute);
  CHECK(first[0].points.empty());
  CHECK_FALSE(first[0].most());
  // A stage that starts later has no value for the step before it.
  trends.take(17 * kSecondNs, {.records = {{"ingest", 5}, {"merge", 23}, {"window", 9}}});
  const std::vector<Trend> later = trends.report();
  REQUIRE(later.size() == 3);
  CHECK(later[1].last_minute == 1.0);
  CHECK_FALSE(later[2].last_minute);
  REQUIRE(later[2].points.size() == 1);
  CHECK_FALSE(later[2].points[0]);
  // Its rate counts from then on.
  trends.take(27 * kSecondNs, {.records = {{"ingest", 5}, {"merge", 23}, {"window", 29}}});
  CHECK(trends.report()[2].last_minute == 2.0);
  CHECK(trends.report()[1].last_minute == Approx(16.0 / 26));
}
