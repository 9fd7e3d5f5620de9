#include "pipeline/page/text_page.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "pipeline/status/status_json.h"
#include "tests/pipeline/page/page_world.h"

using namespace bloomring;
using namespace bloomring::test;
using Catch::Contains;
using Json = nlohmann::json;

TEST_CASE("page: the text shows the same, for a terminal") {
  OpsReport report = report_of(1);
  report.ready = false;
  report.parts[0] = {"serve", false, false, "catching up"};
  report.stages[0].status.partitions[0].behind_seconds = 1.9;  // Usual.
  report.jobs = {"a backup of the filter store"};
  report.recent = {{false, "kafka: no broker answers", "seconds=12", "2026-11-04T09:00:00.000Z",
                    "2026-11-04T09:59:00.000Z", 3}};
  CHECK(text_page(report) ==
        R"(bloomring site-1: NOT READY
version 0.1.0, commit 0123456789ab, up 2 h 5 min, 2026-11-04 10:00:00Z
  serve not ready: catching up

STAGES
  stage   partitions  records/s  lag  behind s
  window           1       12.5    0       1.9
  merge            1          0    3         0  store /var/lib/bloomring/store, 5.0 MiB
  serve            1          -    0         0  127.0.0.1:7700

RINGS (F filling, S sealed, D draining, M merged, - free; slot 0 first)
  partition  merged  applied   slots  unmerged since
  0              40      100  MDSF--  11-04 08:00Z, 2 h ago

BEHIND
  stage  behind s  lag  partition
  merge         0    3  user-batches[0]

UNDER WAY
  a backup of the filter store
  1 drain

WARNINGS AND ERRORS
  2026-11-04T09:59:00.000Z warning 3 times: kafka: no broker answers seconds=12
)");
}

TEST_CASE("page: the text has bounded lists, and no line is made by what it shows") {
  OpsReport report = report_of(5'000);
  report.instance = "a\n\x1b[2Jb";
  const std::string text = text_page(report);
  CHECK(text.size() < 10'000);
  CHECK_THAT(text, Contains("bloomring a  [2Jb: READY\n"));
  CHECK_THAT(text, Contains("  4,980 more rings\n"));
  CHECK_THAT(text, Contains("  4,990 more partitions\n"));
  CHECK_THAT(text, Contains("  5,000 drains\n"));
}

TEST_CASE("page: the JSON has the stages of /status, whole, and what the page adds") {
  OpsReport report = report_of(300);
  report.stages[0].status.partitions[7].level.log_end = Offset(1'009);
  std::vector<StageStatus> status;
  for (const StageReport& stage : report.stages) status.push_back(stage.status);
  const Json page = Json::parse(json_page(report));
  Json stages = page["stages"];
  CHECK(stages[0]["records_per_second"] == 12.5);
  CHECK(stages[0]["lag_records"] == 9);
  CHECK_FALSE(stages[2].contains("records_per_second"));
  for (Json& stage : stages) {
    for (const char* added : {"records_per_second", "lag_records", "behind_seconds_max"}) stage.erase(added);
  }
  CHECK(stages == Json::parse(to_json(status))["stages"]);
  CHECK(page["page_version"] == 1);
  CHECK(page["verdict"] == "READY");
  CHECK(page["drains"].size() == 300);
  CHECK(page["drains"][0] == Json({{"partition", 0}, {"slot", 1}}));
  CHECK(page["replica"] == Json({{"index", 0}, {"count", 2}, {"factor", 1}, {"peers", report.replica->peers}}));
  CHECK(page["up_seconds"] == 7'500);
  CHECK(page["configuration"] == report.configuration);
}

TEST_CASE("page: the JSON has every trend, and null where nothing was measured") {
  OpsReport report = report_of(1);
  report.trends = {{"records_per_second", "window", "records of window", false, 12.5, {0.0, std::nullopt, 99.0}},
                   {"filter_p99_seconds", "", "answer to Filter", true, std::nullopt, {}}};
  const Json page = Json::parse(json_page(report));
  CHECK(page["trends"] == Json::parse(R"([
    {"figure":"records_per_second","stage":"window","last_minute":12.5,"least":0.0,"most":99.0,"step_seconds":15,
     "points":[0.0,null,99.0]},
    {"figure":"filter_p99_seconds","last_minute":null,"least":null,"most":null,"step_seconds":15,"points":[]}])"));
}

TEST_CASE("page: the JSON is valid whatever the texts hold") {
  OpsReport report = report_of(0);
  report.recent = {{true, "\xff\"\n", "\x01", "", "", 1}};
  report.replica.reset();
  const Json page = Json::parse(json_page(report));
  CHECK(page["recent"][0]["message"] == "\xef\xbf\xbd\"\n");
  CHECK_FALSE(page.contains("replica"));
}
