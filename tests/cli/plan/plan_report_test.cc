#include "cli/plan/plan_report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace bloomring;
using namespace bloomring::cli;

TEST_CASE("plan report: figures read as people write them") {
  CHECK(figure_text(64'300.4, "plays/s") == "64,300 plays/s");
  CHECK(figure_text(2.31e8, "") == "231 million");
  CHECK(figure_text(5.5556e9, "") == "5.56 billion");
  CHECK(figure_text(0.4712, "cores") == "0.471 cores");
  CHECK(figure_text(12, "machines") == "12 machines");
  CHECK(figure_text(54, "bytes") == "54 bytes");
  CHECK(figure_text(23.41, "bytes") == "23.4 bytes");
  CHECK(figure_text(7.3e12, "bytes") == "6.6 TiB");
  CHECK(figure_text(3.2e7, "bytes/s") == "31 MiB/s");
  CHECK(figure_text(30, "s") == "30 s");
  CHECK(figure_text(4000, "s") == "66.7 min");
  CHECK(figure_text(90'000, "s") == "25 h");
  CHECK(figure_text(9.96, "times") == "10 times");
  CHECK(figure_text(4.24, "times") == "4.2 times");
  CHECK(figure_text(123.6, "times") == "124 times");
  CHECK(figure_text(0, "") == "0");
}

TEST_CASE("plan report: a range stands behind its figure, and not where its ends read alike") {
  CHECK(range_text({1, 2, 3.5}, "cores") == "2 cores (1 cores to 3.5 cores)");
  CHECK(range_text({64'300.1, 64'300.2, 64'300.3}, "plays/s") == "64,300 plays/s");
}

TEST_CASE("plan report: text and JSON have every row, every constant and every finding") {
  const PlanInput input;
  PlanResult plan;
  plan.add("plays", "plays a second, mean", 10, "plays/s", {"input"});
  plan.add("CPU", "calls, peak", {1, 2, 4}, "cores", {kCallCpu.name, kPeak.name});
  const std::string fits = plan_text(input, plan);
  CHECK(fits.starts_with("A plan for 50 million users with 5.56 billion plays a day, filters in an embedded store,\n"
                         "kept for 6 periods after their own, on machines of 16 cores, 128 GiB of memory and 3.6 TiB "
                         "of disk.\n"));
  CHECK(fits.find("\nCPU ") != std::string::npos);
  CHECK(fits.find("\n  calls, peak ") != std::string::npos);
  CHECK(fits.find(" 2 cores (1 cores to 4 cores) ") != std::string::npos);
  CHECK(fits.find(std::string(kCallCpu.name) + ", " + std::string(kPeak.name) + "\n") != std::string::npos);
  CHECK(fits.ends_with("\nIt fits.\n"));
  plan.findings = {"too much; take less"};
  const std::string too_much = plan_text(input, plan);
  CHECK(too_much.ends_with("\nIt does not fit:\n- too much; take less\n"));
  for (const PlanConstant* constant : plan_constants())
    CHECK(too_much.find("\n  " + std::string(constant->name) + " ") != std::string::npos);

  const auto json = nlohmann::json::parse(plan_json(input, plan));
  CHECK(json["fits"] == false);
  CHECK(json["findings"][0] == "too much; take less");
  CHECK(json["input"]["users"] == 50e6);
  CHECK(json["input"]["store"] == "embedded");
  REQUIRE(json["rows"].size() == 2);
  CHECK(json["rows"][1] == nlohmann::json{{"group", "CPU"},
                                          {"name", "calls, peak"},
                                          {"low", 1},
                                          {"mid", 2},
                                          {"high", 4},
                                          {"unit", "cores"},
                                          {"from", {kCallCpu.name, kPeak.name}}});
  REQUIRE(json["constants"].size() == plan_constants().size());
  CHECK(json["constants"][0]["source"] == "bench/RESULTS.md: Ingest and whole chain");
  for (const auto& constant : json["constants"]) {
    if (constant["name"] == kPeak.name) CHECK(constant["source"] == "assumed");
  }
}
