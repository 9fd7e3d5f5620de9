#include "pipeline/tasks/replica_metrics.h"

#include <catch2/catch.hpp>

#include "state/store/store_metrics.h"
#include "tests/support/shown_series.h"

using namespace bloomring;
using testing::ShownSeries;

TEST_CASE("task series: of a replica, each count has its row, and so has what its memory holds") {
  const SeriesTable<ReplicaCounts> table = replica_series();
  ReplicaCounts counts;
  counts.blocks = 1, counts.events = 2, counts.bad_blocks = 3, counts.early_releases = 4, counts.served_shortened = 5;
  counts.store_retries = 6;
  ShownSeries shown(table, counts);
  CHECK(shown(metric::kServeRecords) == 1);
  CHECK(shown(metric::kServeEvents) == 2);
  CHECK(shown(metric::kServeBadBlocks) == 3);
  CHECK(shown(metric::kRecentEarly) == 4);
  CHECK(shown(metric::kServedShortened) == 5);
  CHECK(shown(metric::kStoreErrors, {"read"}) == 6);
  CHECK(shown.unasked() == std::set<std::string_view>{});
  const SeriesTable<ReplicaMemory> memory_table = replica_memory_series();
  const ReplicaMemory memory{.recent = {.plays = 1, .forgets = 2, .bytes = 3, .generations = 4, .over_bound = true},
                             .served = {.users = 6, .items = 7, .bytes = 8}};
  ShownSeries held(memory_table, memory);
  CHECK(held(metric::kRecentEntries) == 1);
  CHECK(held(metric::kRecentForgets) == 2);
  CHECK(held(metric::kRecentBytes) == 3);
  CHECK(held(metric::kRecentSlots) == 4);
  CHECK(held(metric::kRecentOverBound) == 1);
  CHECK(held(metric::kServedUsers) == 6);
  CHECK(held(metric::kServedEntries) == 7);
  CHECK(held(metric::kServedBytes) == 8);
  CHECK(held.unasked() == std::set<std::string_view>{});
}
