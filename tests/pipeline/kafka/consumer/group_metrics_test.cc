#include "pipeline/kafka/consumer/group_metrics.h"

#include <catch2/catch.hpp>

#include "tests/support/shown_series.h"

using namespace bloomring;
using testing::ShownSeries;

TEST_CASE("task series: of a consumer group, the stage is in the labels") {
  const SeriesTable<kafka::GroupStats> table = group_series("window");
  const kafka::GroupStats stats{.rebalances = 1, .commits = 2, .commit_failures = 3};
  ShownSeries shown(table, stats);
  CHECK(shown(metric::kRebalances, {"window", "assign"}) == 1);
  CHECK(shown(metric::kCommits, {"window", "ok"}) == 2);
  CHECK(shown(metric::kCommits, {"window", "failed"}) == 3);
  CHECK(shown.unasked() == std::set<std::string_view>{});
}
