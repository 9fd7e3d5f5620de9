// The metrics of the merge task.
#pragma once

#include "base/metrics/series_table.h"
#include "operators/filters/merge.h"

namespace bloomring::metric {

inline constexpr MetricDecl kMergeRecords{"bloomring_merge_records_total",
                                          MetricType::kCounter,
                                          "Records of the batch topic applied, by kind.",
                                          {{{"kind", "batch|slot_end"}}}};
inline constexpr MetricDecl kMergedBatches{"bloomring_merged_batches_total", MetricType::kCounter,
                                           "User batches united with filters."};
inline constexpr MetricDecl kCoveredRecords{"bloomring_covered_records_total", MetricType::kCounter,
                                            "Records of user-batches skipped because they were merged before."};
inline constexpr MetricDecl kIncompleteSlotEnds{
    "bloomring_slot_ends_incomplete_total", MetricType::kCounter,
    "Slot ends read without all of their batches; the watermark does not move for them, and the slot is drained "
    "again."};
inline constexpr MetricDecl kDoubtedSlotEnds{
    "bloomring_slot_ends_doubted_total", MetricType::kCounter,
    "Slot ends without a keyed sum, with that of another store, or with other batches than were read. The watermark "
    "does not move for them, and the slot is drained again. Above 0 without a restored store or an upgrade: somebody "
    "else writes the topic of batches."};
inline constexpr MetricDecl kWatermarkMoves{"bloomring_watermark_moves_total", MetricType::kCounter,
                                            "Advances of merged watermarks."};
inline constexpr MetricDecl kMergedPlays{"bloomring_merged_plays_total", MetricType::kCounter,
                                         "Plays united with filters."};
inline constexpr MetricDecl kExpiredPlays{"bloomring_expired_plays_total", MetricType::kCounter,
                                          "Plays skipped because the filter of their period has expired."};
inline constexpr MetricDecl kForgottenPlays{
    "bloomring_forgotten_plays_total", MetricType::kCounter,
    "Plays skipped because the user had forgotten them: late ones and replays."};
inline constexpr MetricDecl kMergedForgets{"bloomring_merged_forgets_total", MetricType::kCounter,
                                           "Forgets taken into the filter store."};
inline constexpr MetricDecl kForgottenDamaged{
    "bloomring_forgotten_damaged_total", MetricType::kCounter,
    "User batches merged although some forgets of the user could not be read from the filter store. Answers about "
    "such a user have a gap. 0 when all is well; `bloomring store check` names the keys."};

inline constexpr const MetricDecl* kMergeMetrics[] = {
    &kMergeRecords, &kMergedBatches, &kCoveredRecords, &kIncompleteSlotEnds, &kDoubtedSlotEnds, &kWatermarkMoves,
    &kMergedPlays, &kExpiredPlays, &kForgottenPlays, &kMergedForgets, &kForgottenDamaged};

}  // namespace bloomring::metric

namespace bloomring {

// The counts of a merge task.
struct MergeCounts : MergeStats {
  uint64_t dead_letters = 0;
  uint64_t store_retries = 0;
};
SeriesTable<MergeCounts> merge_series();

}  // namespace bloomring
