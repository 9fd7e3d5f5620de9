// Each number that a task counts is shown by exactly one row of its table, or by the rows of its parts.
#include <catch2/catch.hpp>

#include "base/metrics/metrics.h"
#include "pipeline/kafka/consumer/group_metrics.h"
#include "pipeline/tasks/ingest_metrics.h"
#include "pipeline/tasks/merge_metrics.h"
#include "pipeline/tasks/replica_metrics.h"
#include "pipeline/tasks/window_metrics.h"
#include "serving/service/call_metrics.h"

using namespace bloomring;

namespace {

// Shows one set of numbers.
template <typename Stats>
struct Shown {
  Shown(const SeriesTable<Stats>& table, const Stats& stats)
      : registration(metrics.on_scrape([&table, &stats](Scrape& scrape) { write_all(scrape, table, stats); })) {}
  double operator()(const MetricDecl& decl, LabelValues labels = {}) const { return metrics.value(decl, labels); }

  Metrics metrics;
  Metrics::Registration registration;
};

}  // namespace

TEST_CASE("task series: of ingest, refused and skipped records are shown in all and by reason") {
  const SeriesTable<IngestStats> table = ingest_series();
  IngestStats stats{.accepted = 1, .repeats = 2, .ahead = 3, .far_ahead = 4, .blocks = 5, .block_bytes = 6};
  stats.refused[static_cast<size_t>(Refusal::kEmptyId)] = 7;
  stats.refused[static_cast<size_t>(Refusal::kNotUtf8)] = 8;
  stats.skipped[static_cast<size_t>(Skip::kShortView)] = 9;
  const Shown shown(table, stats);
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
}

TEST_CASE("task series: of the window task, each count has its row") {
  const SeriesTable<WindowCounts> table = window_series();
  WindowCounts counts;
  counts.blocks = 1, counts.events = 2, counts.bytes = 3, counts.hours_released = 4;
  counts.drains[1] = 5, counts.drains[2] = 6, counts.drains[3] = 7;
  counts.drains_abandoned = 9, counts.batches = 10, counts.batch_plays = 11;
  counts.dead_letters = 12, counts.slots_joined = 13;
  const Shown shown(table, counts);
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
}

TEST_CASE("task series: of the merge task, each count has its row, and slot ends are no batches") {
  const SeriesTable<MergeCounts> table = merge_series();
  MergeCounts counts;
  counts.records = 100, counts.slot_ends = 1, counts.batches = 2, counts.plays = 3, counts.plays_expired = 4;
  counts.plays_forgotten = 5, counts.forgets = 6, counts.forgotten_damaged = 7, counts.records_covered = 8;
  counts.slot_ends_incomplete = 9, counts.watermark_moves = 10, counts.dead_letters = 11, counts.store_retries = 12;
  const Shown shown(table, counts);
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
}

TEST_CASE("task series: of a replica, each count has its row, and so has what its memory holds") {
  const SeriesTable<ReplicaCounts> table = replica_series();
  ReplicaCounts counts;
  counts.blocks = 1, counts.events = 2, counts.bad_blocks = 3, counts.early_releases = 4, counts.served_shortened = 5;
  const Shown shown(table, counts);
  CHECK(shown(metric::kServeRecords) == 1);
  CHECK(shown(metric::kServeEvents) == 2);
  CHECK(shown(metric::kServeBadBlocks) == 3);
  CHECK(shown(metric::kRecentEarly) == 4);
  CHECK(shown(metric::kServedShortened) == 5);
  const SeriesTable<ReplicaMemory> memory_table = replica_memory_series();
  const ReplicaMemory memory{.recent = {.plays = 1, .forgets = 2, .bytes = 3, .generations = 4, .over_bound = true},
                             .served = {.users = 6, .items = 7, .bytes = 8}};
  const Shown held(memory_table, memory);
  CHECK(held(metric::kRecentEntries) == 1);
  CHECK(held(metric::kRecentForgets) == 2);
  CHECK(held(metric::kRecentBytes) == 3);
  CHECK(held(metric::kRecentSlots) == 4);
  CHECK(held(metric::kRecentOverBound) == 1);
  CHECK(held(metric::kServedUsers) == 6);
  CHECK(held(metric::kServedEntries) == 7);
  CHECK(held(metric::kServedBytes) == 8);
}

TEST_CASE("task series: of calls, verdicts and gaps are shown by their words") {
  ServingCounters counters;
  counters.requests = 1;
  counters.verdicts[static_cast<size_t>(Reason::kRecent)] = 2;
  counters.incomplete[static_cast<size_t>(AnswerSource::kFilters)] = 3;
  counters.refused_strict = 4;
  counters.forward_failed = 5;
  const Shown shown(call_series(), counters);
  CHECK(shown(metric::kRequests) == 1);
  CHECK(shown(metric::kCandidates, {"recent"}) == 2);
  CHECK(shown(metric::kCandidates, {"unseen"}) == 0);
  CHECK(shown(metric::kAnswersIncomplete, {"filters"}) == 3);
  CHECK(shown(metric::kCallsRefused, {"strict"}) == 4);
  CHECK(shown(metric::kCallsForwarded, {"unavailable"}) == 5);
}

TEST_CASE("task series: of a consumer group, the stage is in the labels") {
  const SeriesTable<kafka::GroupStats> table = group_series("window");
  const kafka::GroupStats stats{.rebalances = 1, .commits = 2, .commit_failures = 3};
  const Shown shown(table, stats);
  CHECK(shown(metric::kRebalances, {"window", "assign"}) == 1);
  CHECK(shown(metric::kCommits, {"window", "ok"}) == 2);
  CHECK(shown(metric::kCommits, {"window", "failed"}) == 3);
}
