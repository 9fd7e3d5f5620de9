#include "pipeline/tasks/window_metrics.h"

#include <catch2/catch.hpp>

#include "pipeline/tasks/dead_letter_metrics.h"
#include "tests/support/shown_series.h"

using namespace bloomring;
using testing::ShownSeries;

TEST_CASE("task series: of the window task, each count has its row") {
  const SeriesTable<WindowCounts> table = window_series();
  WindowCounts counts;
  counts.blocks = 1, counts.events = 2, counts.bytes = 3, counts.hours_released = 4;
  counts.drains[1] = 5, counts.drains[2] = 6, counts.drains[3] = 7;
  counts.drains_abandoned = 9, counts.batches = 10, counts.batch_plays = 11;
  counts.dead_letters = 12, counts.slots_joined = 13;
  ShownSeries shown(table, counts);
  CHECK(shown(metric::kWindowRecords) == 1);
  CHECK(shown(metric::kWindowEvents) == 2);
  CHECK(shown(metric::kWindowBytes) == 3);
  CHECK(shown(metric::kHoursReleased) == 4);
  CHECK(shown(metric::kDrains, {"first"}) == 5);
  CHECK(shown(metric::kDrains, {"second"}) == 6);
  CHECK(shown(metric::kDrains, {"lap"}) == 7);
  CHECK(shown(metric::kDrainsAbandoned) == 9);
  CHECK(shown(metric::kBatches) == 10);
  CHECK(shown(metric::kBatchPlays) == 11);
  CHECK(shown(metric::kDeadLetters, {"window", "bad_block"}) == 12);
  CHECK(shown(metric::kSlotsJoined) == 13);
  CHECK(shown.unasked() == std::set<std::string_view>{});
}
