#include "pipeline/tasks/ingest_metrics.h"

#include <catch2/catch.hpp>

#include "tests/support/shown_series.h"

using namespace bloomring;
using testing::ShownSeries;

TEST_CASE("task series: of ingest, refused and skipped records are shown in all and by reason") {
  const SeriesTable<IngestStats> table = ingest_series();
  IngestStats stats{.accepted = 1, .repeats = 2, .ahead = 3, .far_ahead = 4, .blocks = 5, .block_bytes = 6};
  stats.refused[static_cast<size_t>(Refusal::kEmptyId)] = 7;
  stats.refused[static_cast<size_t>(Refusal::kNotUtf8)] = 8;
  stats.skipped[static_cast<size_t>(Skip::kShortView)] = 9;
  ShownSeries shown(table, stats);
  CHECK(shown(metric::kIngestRecords, {"accepted"}) == 1);
  CHECK(shown(metric::kIngestRecords, {"repeat"}) == 2);
  CHECK(shown(metric::kIngestRecords, {"refused"}) == 15);
  CHECK(shown(metric::kIngestRecords, {"skipped"}) == 9);
  CHECK(shown(metric::kIngestRefused, {"empty_id"}) == 7);
  CHECK(shown(metric::kDeadLetters, {"ingest", "not_utf8"}) == 8);
  CHECK(shown(metric::kIngestSkipped, {"short_view"}) == 9);
  CHECK(shown(metric::kIngestSkipped, {"ignored_kind"}) == 0);
  CHECK(shown(metric::kIngestAhead, {"within"}) == 3);
  CHECK(shown(metric::kIngestAhead, {"beyond"}) == 4);
  CHECK(shown(metric::kBlocks) == 5);
  CHECK(shown(metric::kBlockBytes) == 6);
  CHECK(shown.unasked() == std::set<std::string_view>{});
}
