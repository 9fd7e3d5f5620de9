// The signs of pressure in the pages of a process.
#include "pipeline/jobs/live_pressure.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::string status_with(const std::string& stage, const std::string& behind) {
  return R"({"stages":[{"stage":"ingest","partitions":[{"behind_seconds":0.4},{"behind_seconds":0.9}]},{"stage":")" +
         stage + R"(","partitions":[{"behind_seconds":0.1},{"topic":"t","partition":1,"behind_seconds":)" + behind +
         "}]}]}";
}

LivePressure pressure(const std::string& stage, const std::string& behind) {
  const auto signs = read_signs(status_with(stage, behind), "");
  REQUIRE(signs.ok());
  return pressure_of(*signs, {}, 0);
}

LivePressure pressure_of_metrics(const std::string& metrics) {
  return pressure_of(*read_signs(R"({"stages":[]})", metrics), {}, 0);
}

}  // namespace

TEST_CASE("live pressure: a stage that is behind slows a job, and one that is far behind stops it") {
  const std::string stage = GENERATE(as<std::string>{}, "ingest", "window", "serve");
  CHECK(pressure(stage, "1.2").pressure == Pressure::kNone);
  CHECK(pressure(stage, "2.5").pressure == Pressure::kHigh);
  CHECK(pressure(stage, "2.5").reason == stage + " is 2.5 s behind");
  CHECK(pressure(stage, "10.5").pressure == Pressure::kStop);
}

TEST_CASE("live pressure: merging may be behind for the time of a drain") {
  CHECK(pressure("merge", "59").pressure == Pressure::kNone);
  CHECK(pressure("merge", "61").pressure == Pressure::kHigh);
  CHECK(pressure("merge", "601").pressure == Pressure::kStop);
}

TEST_CASE("live pressure: memory of unmerged plays, and tasks that stand still, stop a job") {
  CHECK(pressure_of_metrics("bloomring_recent_over_bound_partitions 0\nbloomring_stalled_tasks 0\n").pressure ==
        Pressure::kNone);
  CHECK(pressure_of_metrics("# HELP x\nbloomring_recent_over_bound_partitions 1\n").pressure == Pressure::kStop);
  CHECK(pressure_of_metrics("bloomring_stalled_tasks 2\n").pressure == Pressure::kStop);
  CHECK(pressure_of_metrics("bloomring_stalled_tasks_of_others 2\n").pressure == Pressure::kNone);
}

TEST_CASE("live pressure: writes that wait for more than a tenth of the time slow a job") {
  const auto at = [](const char* filters, const char* window) {
    return *read_signs(R"({"stages":[]})", "bloomring_rocksdb_stall_seconds_total{store=\"filters\"} " +
                                              std::string(filters) +
                                              "\nbloomring_rocksdb_stall_seconds_total{store=\"window\"} " + window);
  };
  CHECK(pressure_of(at("7", "0.5"), {}, 0).pressure == Pressure::kNone);
  CHECK(pressure_of(at("7", "0.5"), at("7", "0.45"), 1).pressure == Pressure::kNone);
  CHECK(pressure_of(at("7", "0.7"), at("7", "0.5"), 1).pressure == Pressure::kHigh);
  CHECK(pressure_of(at("0.1", "0"), at("700", "0.5"), 1).pressure == Pressure::kNone);  // Started again.
}

TEST_CASE("live pressure: the worst sign counts") {
  LivePressure worst;
  worst.add(Pressure::kHigh, "a");
  worst.add(Pressure::kHigh, "b");
  CHECK(worst.reason == "a");
  worst.add(Pressure::kStop, "c");
  worst.add(Pressure::kNone, "");
  CHECK(worst.pressure == Pressure::kStop);
  CHECK(worst.reason == "c");
}

TEST_CASE("live pressure: a page of something else is no sign") {
  for (const char* page : {"", "<html>", "[]", "{}", R"({"stages":3})"})
    CHECK(read_signs(page, "").code() == Code::kBadRecord);
  CHECK(read_signs(R"({"stages":[3,{"stage":7},{"stage":"serve","partitions":[4,{"behind_seconds":"x"}]}]})", "").ok());
}
