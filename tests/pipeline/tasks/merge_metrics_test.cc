#include "pipeline/tasks/merge_metrics.h"

#include <catch2/catch.hpp>

#include "pipeline/tasks/dead_letter_metrics.h"
#include "state/store/store_metrics.h"
#include "tests/support/shown_series.h"

using namespace bloomring;
using testing::ShownSeries;

TEST_CASE("task series: of the merge task, each count has its row, and slot ends are no batches") {
  const SeriesTable<MergeCounts> table = merge_series();
  MergeCounts counts;
  counts.records = 100, counts.slot_ends = 1, counts.batches = 2, counts.plays = 3, counts.plays_expired = 4;
  counts.plays_forgotten = 5, counts.forgets = 6, counts.forgotten_damaged = 7, counts.records_covered = 8;
  counts.slot_ends_incomplete = 9, counts.watermark_moves = 10, counts.dead_letters = 11, counts.store_retries = 12;
  counts.slot_ends_doubted = 13;
  ShownSeries shown(table, counts);
  CHECK(shown(metric::kMergeRecords, {"batch"}) == 99);
  CHECK(shown(metric::kMergeRecords, {"slot_end"}) == 1);
  CHECK(shown(metric::kMergedBatches) == 2);
  CHECK(shown(metric::kMergedPlays) == 3);
  CHECK(shown(metric::kExpiredPlays) == 4);
  CHECK(shown(metric::kForgottenPlays) == 5);
  CHECK(shown(metric::kMergedForgets) == 6);
  CHECK(shown(metric::kForgottenDamaged) == 7);
  CHECK(shown(metric::kCoveredRecords) == 8);
  CHECK(shown(metric::kIncompleteSlotEnds) == 9);
  CHECK(shown(metric::kWatermarkMoves) == 10);
  CHECK(shown(metric::kDeadLetters, {"merge", "bad_batch"}) == 11);
  CHECK(shown(metric::kStoreErrors, {"apply"}) == 12);
  CHECK(shown(metric::kDoubtedSlotEnds) == 13);
  CHECK(shown.unasked() == std::set<std::string_view>{});
}
