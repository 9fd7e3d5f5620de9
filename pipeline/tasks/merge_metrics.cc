#include "pipeline/tasks/merge_metrics.h"

#include "pipeline/tasks/dead_letter_metrics.h"
#include "state/store/store_metrics.h"

namespace bloomring {

SeriesTable<MergeCounts> merge_series() {
  using namespace metric;
  using Counts = MergeCounts;
  const auto batch_records = [](const Counts& counts) {
    return static_cast<double>(counts.records - counts.slot_ends);
  };
  return {
      {&kMergeRecords, {"batch"}, batch_records},
      {&kMergeRecords, {"slot_end"}, &Counts::slot_ends},
      {&kMergedBatches, {}, &Counts::batches},
      {&kCoveredRecords, {}, &Counts::records_covered},
      {&kIncompleteSlotEnds, {}, &Counts::slot_ends_incomplete},
      {&kDoubtedSlotEnds, {}, &Counts::slot_ends_doubted},
      {&kWatermarkMoves, {}, &Counts::watermark_moves},
      {&kMergedPlays, {}, &Counts::plays},
      {&kExpiredPlays, {}, &Counts::plays_expired},
      {&kForgottenPlays, {}, &Counts::plays_forgotten},
      {&kMergedForgets, {}, &Counts::forgets},
      {&kForgottenDamaged, {}, &Counts::forgotten_damaged},
      {&kStoreErrors, {"apply"}, &Counts::store_retries},
      {&kDeadLetters, {"merge", "bad_batch"}, &Counts::dead_letters},
  };
}

}  // namespace bloomring
