#include "pipeline/page/ops_report.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/page/page_world.h"

using namespace bloomring;
using namespace bloomring::test;

TEST_CASE("page: the verdict is the worst that the parts say") {
  OpsReport report = report_of(1);
  CHECK(verdict(report) == std::string("READY"));
  report.parts[0].reason = "1 of 8 partitions cannot be answered for";
  CHECK(verdict(report) == std::string("DEGRADED"));
  report.ready = false;
  CHECK(verdict(report) == std::string("NOT READY"));
  report.alive = false;
  CHECK(verdict(report) == std::string("FAILED"));
}

TEST_CASE("page: a look that is old makes a ready process degraded") {
  OpsReport report = report_of(1);
  report.looked_ms = kNowMs - kLookOldMs;
  CHECK(verdict(report) == std::string("READY"));
  report.looked_ms = kNowMs - kLookOldMs - 1;
  CHECK(look_is_old(report));
  CHECK(verdict(report) == std::string("DEGRADED"));
}

TEST_CASE("page: parts are those of the probes, with their reasons") {
  const auto parts = parts_of(
      R"({"ready":false,"parts":{"merge":{"ready":true,"reason":"note"},)"
      R"("serve":{"ready":false,"reason":"catching up"},)"
      R"("window":{"ready":false,"reason":"disk full"}}})",
      R"({"alive":false,"parts":{"merge":{"alive":true},"serve":{"alive":true},"window":{"alive":false}}})");
  REQUIRE(parts.size() == 3);
  CHECK((parts[0].ready && !parts[0].failed && parts[0].reason == "note"));
  CHECK((!parts[1].ready && !parts[1].failed && parts[1].reason == "catching up"));
  CHECK((!parts[2].ready && parts[2].failed));
}

TEST_CASE("page: a stage has the sum of the known lags, and the worst time behind") {
  StageStatus stage{.stage = "merge"};
  CHECK_FALSE(sums_of(stage).lag_records);
  stage.partitions = {partition_of("t", 0, 5, 1.5), partition_of("t", 1, 7, 9.5), partition_of("t", 2)};
  stage.partitions[2].level = {};
  stage.partitions[2].behind_seconds = 3;
  const StageSums sums = sums_of(stage);
  CHECK(sums.partitions == 3);
  CHECK(sums.lag_records == 12);
  CHECK(sums.behind_seconds_max == 9.5);
}

TEST_CASE("page: the partitions that are longest behind come first, then those with most lag") {
  OpsReport report = report_of(0);
  report.stages[0].status.partitions = {partition_of("a", 0, 1), partition_of("a", 1, 9), partition_of("a", 2, 1, 7)};
  std::vector<int32_t> order;
  for (const PartitionRow& row : worst_first(report)) order.push_back(row.partition->at.partition.value);
  CHECK(order == std::vector<int32_t>{2, 1, 0});
}

TEST_CASE("page: the ring with the oldest unmerged slot comes first, and drains are those under way") {
  OpsReport report = report_of(3);
  report.stages[0].status.partitions[2].ring = ring_of(5);
  report.stages[0].status.partitions[0].ring->slots = std::vector<SlotStatus>(6);
  std::vector<int32_t> order;
  for (const PartitionRow& row : rings_worst_first(report)) order.push_back(row.partition->at.partition.value);
  CHECK(order == std::vector<int32_t>{2, 1, 0});
  const std::vector<DrainRow> running = drains(report);
  REQUIRE(running.size() == 2);
  CHECK(running[0].partition->at.partition == PartitionId(2));
  CHECK(running[0].slot == 1);
}

TEST_CASE("page: slots are counted by state, and the state with the most to do stands for all") {
  OpsReport report = report_of(2);
  report.stages[0].status.partitions[1].ring->slots[1].state = SlotState::kMerged;
  const SlotCounts counts = count_slots(report);
  REQUIRE(counts.size() == 6);
  CHECK(counts[1] == std::array<size_t, kSlotStateCount>{0, 0, 0, 1, 1});
  CHECK(chief_state(counts[0]) == SlotState::kMerged);
  CHECK(chief_state(counts[1]) == SlotState::kDraining);
  CHECK(chief_state({0, 3, 1, 1, 9}) == SlotState::kDraining);
  CHECK(chief_state({0, 3, 1, 0, 9}) == SlotState::kSealed);
  CHECK(chief_state({7, 1, 0, 0, 9}) == SlotState::kFilling);
  CHECK(chief_state({7, 0, 0, 0, 0}) == SlotState::kFree);
}
