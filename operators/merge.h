// The merge stage's work on one partition: unites user batches with the filters and moves the merged watermark.
//
// Guarantee: the watermark is moved over an hour only after every batch of that hour's drain was applied to the store,
// and the store makes both durable in this order. Batches of a range that is merged already are skipped.
// After a gap in user-batches (retention removed records that were never read) a slot end counts only when all of the
// batches of its drain were seen.
// Steps are pure on records: no Kafka, no threads, no clock reads.
// Failure: that of the filter store; the same record may be applied again. Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/play_json.h"
#include "schemas/user_batch.h"
#include "state/filter_store.h"
#include "state/period.h"

namespace bloomring {

struct MergeConfig {
  PartitionId partition;
  uint32_t partition_count = 1;
  bool gap_before_start = false;  // Records before the first one were lost unread.
};

// Counts since the start, for metrics.
struct MergeStats {
  uint64_t records = 0;
  uint64_t batches = 0;          // Users' batches united.
  uint64_t plays = 0;            // Plays united.
  uint64_t plays_expired = 0;    // Plays of a period beyond retention: counted and skipped.
  uint64_t records_covered = 0;  // Records of a range that was merged already.
  uint64_t slot_ends = 0;
  uint64_t slot_ends_incomplete = 0;  // After a gap, without all their batches.
  uint64_t watermark_moves = 0;
};

class Merge {
 public:
  // `watermark` is what the store holds for the partition, or nothing.
  Merge(MergeConfig config, const Calendar& calendar, FilterStore& store, std::optional<MergedWatermark> watermark);

  struct Applied {
    Refusal refusal = Refusal::kNone;  // kBadBatch: nothing was applied; the caller writes a dead letter.
    bool durable = false;              // Everything up to and including this record is durable in the store.
  };
  // Applies one record of user-batches.
  Result<Applied> apply(std::string_view record, int64_t now_ms, std::string& detail);
  // Makes what was applied durable without a slot end.
  Status sync() { return store_.sync(); }

  // True after a gap until a whole drain was seen: nothing may be committed, so that a restart knows of the gap.
  bool holding_back() const { return config_.gap_before_start; }
  const std::optional<MergedWatermark>& watermark() const { return watermark_; }
  const MergeStats& stats() const { return stats_; }

 private:
  Status unite(UserBatchReader& reader, int64_t now_ms);
  void add_user(UserBatchReader& reader, int64_t now_ms);
  Status flush_updates();
  Result<bool> end_slot(const SlotEnd& end);

  // Updates refer to items by range while items_ grows.
  struct Pending {
    std::string_view user_key;
    PeriodIndex period;
    size_t items_begin;
    size_t items_end;
  };

  MergeConfig config_;
  const Calendar& calendar_;
  FilterStore& store_;
  std::optional<MergedWatermark> watermark_;
  MergeStats stats_;
  DrainHeader drain_;             // Of the drain whose batches are being read...
  uint64_t drain_records_ = 0;    // ...and how many of its records were seen.
  std::vector<Pending> pending_;
  std::vector<ItemHash> items_;
  std::vector<ItemHash> quarter_items_;
  std::vector<FilterUpdate> updates_;
};

}  // namespace bloomring
