#include "pipeline/shadow/shadow_metrics.h"

#include <catch2/catch.hpp>

#include "base/metrics/metrics.h"

using namespace bloomring;

TEST_CASE("shadow metrics: each count is in its own series, and doubts are in none") {
  ShadowCounts counts;
  counts.compared = 1;
  counts.refused = 2;
  counts.dropped = 3;
  counts.unlike = 4;
  counts.failed_old = 5;
  counts.failed_new = 6;
  counts.incomplete = 7;
  for (size_t i = 0; i < kShadowResultCount; ++i) counts.results[i] = 100 + i;
  SharedCounts shared;
  shared.set(counts);
  Metrics metrics;
  const auto scraped = metrics.on_scrape([&](Scrape& scrape) { write_all(scrape, shadow_series(), shared.get()); });
  const auto queries = [&](std::string_view result) { return metrics.value(metric::kShadowQueries, {result}); };
  CHECK(queries("compared") == 1);
  CHECK(queries("refused") == 2);
  CHECK(queries("dropped") == 3);
  CHECK(queries("unlike") == 4);
  CHECK(queries("failed_old") == 5);
  CHECK(queries("failed_new") == 6);
  CHECK(queries("incomplete") == 7);
  for (size_t i = 0; i < kShadowResultCount; ++i) {
    const auto result = static_cast<ShadowResult>(i);
    if (result == ShadowResult::kDoubt) continue;
    CHECK(metrics.value(metric::kShadowCandidates, {shadow_result_name(result)}) == 100.0 + static_cast<double>(i));
  }
  CHECK(shadow_series().size() == 7 + kShadowResultCount - 1);
}
