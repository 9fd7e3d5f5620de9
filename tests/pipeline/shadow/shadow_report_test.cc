#include "pipeline/shadow/shadow_report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/pipeline/shadow/shadow_bed.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

struct Reported {
  ShadowBed bed;
  ShadowComparer comparer;
  ShadowEnd end;

  Reported() : comparer(bed.comparer()) {
    bed.old_ms = 4;
    bed.new_ms = 1;
    bed.old_items = {{"both", ShadowBed::kNowMs - 1}, {"lost", ShadowBed::kNowMs - 1}, {"old", 1'600'000'000'000}};
    bed.new_items = {{"both", Reason::kFilter}, {"shown", Reason::kServed}, {"accident", Reason::kFilter}};
    REQUIRE(comparer.compare(ShadowBed::query({"both", "lost", "old", "shown", "accident", "neither"})).ok());
    while (comparer.due_ms()) REQUIRE(comparer.settle_next(false).ok());
    end.counts = comparer.counts();
    end.counts.dropped = 5;
    end.seconds = 2.5;
  }
};

}  // namespace

TEST_CASE("shadow report: the JSON has every count by its name, and the latencies of both side by side") {
  const Reported reported;
  const auto json = nlohmann::json::parse(shadow_json(reported.end, reported.comparer));
  CHECK(json["queries"] == nlohmann::json::parse(R"({"compared":1,"refused":0,"dropped":5,"unlike":0,"failed_old":0,
                                                     "failed_new":0,"incomplete":0})"));
  CHECK(json["candidates"] == nlohmann::json::parse(R"({"compared":6,"seen":1,"unseen":1})"));
  CHECK(json["explained"] == nlohmann::json::parse(R"({"expired":1,"served":1,"false_positive":1})"));
  CHECK(json["unexplained"] == nlohmann::json::parse(R"({"missing":1,"false_positives_above_rate":false,
                                                         "old_errors_above_rate":false})"));
  CHECK(json["false_positives"]["asked"] == 2);
  CHECK(json["false_positives"]["found"] == 1);
  for (const char* part : {"p50", "p90", "p99", "max"}) {
    CHECK(json["latency_ms"]["old"][part] == 4.0);
    CHECK(json["latency_ms"]["new"][part] == 1.0);
  }
  CHECK(json["seconds"] == 2.5);
  CHECK_FALSE(json["stopped"]);
}

TEST_CASE("shadow report: the text says the same to people") {
  const Reported reported;
  const std::string text = shadow_text(reported.end, reported.comparer);
  for (const char* words : {"1 compared in 2.5 s", "5 dropped", "both say seen: 1, both say unseen: 1", "1 expired",
                            "1 served", "latency old  p50 4.00 ms", "latency new  p50 1.00 ms", "missing      1\n"})
    CHECK_THAT(text, Catch::Contains(words));
  CHECK_THAT(text, !Catch::Contains("more than the rate explains"));
}
