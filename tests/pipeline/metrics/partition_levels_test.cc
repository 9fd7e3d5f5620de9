#include "pipeline/metrics/partition_levels.h"

#include <catch2/catch.hpp>

#include "pipeline/metrics/partition_series.h"
#include "pipeline/tasks/window_metrics.h"
#include "tests/support/manual_clock.h"

using namespace bloomring;

namespace {

constexpr int64_t kStartMs = 1'793'404'800'000;

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::string series(const std::string& name, const std::string& partition, const std::string& value) {
  return "bloomring_" + name + R"({stage="merge",topic="t",partition=")" + partition + "\"} " + value;
}

struct Levels {
  Metrics metrics;
  ManualClock clock{kStartMs};
  PartitionLevels levels;
  explicit Levels(bool per_partition) : levels(metrics, clock, {"merge", per_partition}) {}

  void set(int32_t partition, int64_t applied, int64_t committed, int64_t end) {
    levels.set("t", PartitionId(partition), {Offset(applied), Offset(committed), Offset(end)});
  }
  void update_log_end(int32_t partition, int64_t end) {
    levels.update_log_end({"t", PartitionId(partition)}, Offset(end), clock.steady_ns());
  }
};

}  // namespace

TEST_CASE("partition levels: what is behind rises between reports, also of a partition without any record") {
  Levels all(/*per_partition=*/true);
  all.set(3, -1, -1, -1);
  all.clock.advance_ms(7'000);
  CHECK(has_line(all.metrics.text(), series("behind_seconds", "3", "7")));
  all.update_log_end(3, 0);
  all.set(3, 0, -1, 0);
  CHECK(has_line(all.metrics.text(), series("behind_seconds", "3", "0")));
  all.clock.advance_ms(90'000);
  CHECK(has_line(all.metrics.text(), series("behind_seconds", "3", "90")));
}

TEST_CASE("partition levels: an end that the brokers tell counts for the lag before the stage hears of it") {
  Levels all(/*per_partition=*/true);
  all.set(3, 10, 5, 10);
  all.update_log_end(3, 30);
  const std::string text = all.metrics.text();
  CHECK(has_line(text, series("processing_lag_records", "3", "20")));
  CHECK(has_line(text, series("custody_lag_records", "3", "25")));
}

TEST_CASE("partition levels: without series of partitions records are summed and of ages the largest is shown") {
  Levels all(/*per_partition=*/false);
  all.set(0, 10, 5, 100);
  all.clock.advance_ms(4'000);
  all.set(1, 20, 6, 200);
  all.clock.advance_ms(1'000);
  const std::string text = all.metrics.text();
  CHECK(has_line(text, series("applied_offset", "all", "30")));
  CHECK(has_line(text, series("committed_offset", "all", "11")));
  CHECK(has_line(text, series("processing_lag_records", "all", "270")));
  CHECK(has_line(text, series("behind_seconds", "all", "5")));
  CHECK(text.find("partition=\"0\"") == std::string::npos);
}

TEST_CASE("partition levels: a partition that is given back is not shown any more") {
  Levels all(/*per_partition=*/true);
  all.set(3, 10, 5, 10);
  all.levels.remove("t", PartitionId(3), /*lost=*/false);
  all.update_log_end(3, 30);
  CHECK(all.metrics.text().find("partition=\"3\"") == std::string::npos);
}

TEST_CASE("partition levels: a partition that is lost while no broker answers falls behind until one does") {
  Levels all(/*per_partition=*/true);
  all.set(3, 10, 5, 10);
  all.update_log_end(3, 10);
  all.levels.remove("t", PartitionId(3), /*lost=*/true);
  all.clock.advance_ms(40'000);
  CHECK(has_line(all.metrics.text(), series("behind_seconds", "3", "40")));
  all.update_log_end(3, 10);
  CHECK(all.metrics.text().find("partition=\"3\"") == std::string::npos);
  all.levels.remove("t", PartitionId(3), /*lost=*/true);
  all.set(3, 10, 5, 10);
  all.update_log_end(3, 10);
  CHECK(has_line(all.metrics.text(), series("behind_seconds", "3", "0")));
}

TEST_CASE("partition series: the one series of all has the least of times") {
  Metrics metrics;
  const auto registration = metrics.on_scrape([](Scrape& scrape) {
    PartitionSeries all(scrape, /*each=*/false);
    for (const double time : {50.0, 20.0, 70.0})
      all.write(metric::kOldestUnmerged, PartitionId(static_cast<int32_t>(time)), time, Fold::kMin);
  });
  CHECK(has_line(metrics.text(), R"(bloomring_oldest_unmerged_slot_timestamp_seconds{partition="all"} 20)"));
}
