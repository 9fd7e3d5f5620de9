#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "load/load_driver.h"

using namespace bloomring;

TEST_CASE("load: the figures as JSON and as text") {
  LoadReport report;
  report.seconds = 30;
  for (int i = 1; i <= 1'000; ++i) report.filter.latency_ns.record(static_cast<uint64_t>(i) * 1'000'000);
  report.filter.errors["UNAVAILABLE"] = 3;
  report.candidates = 100;
  report.seen = 25;
  report.service_cpu_seconds_per_call = 0.0003;
  report.own_cpu_seconds_per_call = 0.0001;
  const auto json = nlohmann::json::parse(to_json({}, report));
  CHECK(json["rate"] == 200);
  CHECK(json["filter"]["ok"] == 1'000);
  CHECK(json["filter"]["p99_ms"].get<double>() == Approx(990).epsilon(0.01));
  CHECK(json["filter"]["max_ms"] == 1'000);
  CHECK(json["filter"]["errors"]["UNAVAILABLE"] == 3);
  CHECK(json["cpu_us_per_call"]["service"].get<double>() == Approx(300));
  const std::string text = to_text({}, report);
  CHECK(text.find("3 UNAVAILABLE") != std::string::npos);
  CHECK(text.find("25.0 % seen") != std::string::npos);
  CHECK(text.find("300 us of the service") != std::string::npos);
}
