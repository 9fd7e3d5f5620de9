// The merge stage's work on one partition: unites user batches with the filters, keeps what users have forgotten
// (schemas/forgotten.h), and moves the merged watermark.
//
// A play that was forgotten is not united, by the exact event times of both. A forget goes with every batch of plays
// that were logged after it, so whatever was merged before a forget became known here was logged before its hour, and
// happened before it: the filters up to the period of the forget may be removed, or masked for the item, as a whole.
// Two cases are different, and there the forget reaches only to the beginning of its period, since no play after a
// forget may be unseen: a forget that is late (a play after it may stand in an earlier hour), and one that comes when
// something that was logged behind it is merged already (after the store went back to a backup).
// Guarantee: the watermark is moved over an hour only after every batch of that hour's drain was applied to the store
// by this object, and the store makes both durable in this order. Batches of a range that is merged already are
// skipped. A slot end whose batches were not all seen here moves nothing: they may have been applied to a store that
// has gone back to a backup since, or have left their topic unread. The slot is drained again then.
// What has expired is decided by merged log time and the given wall clock together (state/merged_time.h), so that a
// clock months ahead skips no play. A slot end that moves the watermark notes the end of its newest hour there.
// Where what a user has forgotten cannot be read, plays of the user are united by what is good of it, and new forgets
// are added to that: questions about the user have a gap, and the others are not held up (schemas/forgotten.h).
// Steps are pure on records: no Kafka, no threads, no clock reads.
// Failure: that of the filter store; the same record may be applied again. Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/json/play_json.h"
#include "schemas/user_batch.h"
#include "state/period.h"
#include "state/store/filter_store.h"

namespace bloomring {

struct MergeConfig {
  PartitionId partition;
  uint32_t partition_count = 1;
  int64_t slot_ms = 3'600'000;  // Of the hours in slot ends.
};

// Counts since the start, for metrics.
struct MergeStats {
  uint64_t records = 0;
  uint64_t batches = 0;          // Users' batches united.
  uint64_t plays = 0;            // Plays united.
  uint64_t plays_expired = 0;    // Plays of a period beyond retention: counted and skipped.
  uint64_t plays_forgotten = 0;  // Plays that the user has forgotten: counted and skipped.
  uint64_t forgets = 0;          // That were news to the store.
  uint64_t forgotten_damaged = 0;  // Users' batches merged while what the user has forgotten could not all be read.
  uint64_t records_covered = 0;  // Records of a range that was merged already.
  uint64_t slot_ends = 0;
  uint64_t slot_ends_incomplete = 0;  // Not all of their batches were seen.
  uint64_t watermark_moves = 0;
};

class Merge {
 public:
  // `watermark` is what the store holds for the partition, or nothing.
  Merge(MergeConfig config, const Calendar& calendar, FilterStore& store, std::optional<MergedWatermark> watermark);

  struct Applied {
    Refusal refusal = Refusal::kNone;  // kBadBatch: nothing was applied; the caller writes a dead letter.
    bool slot_end = false;             // A place to start from again: a drain begins behind it.
  };
  // Applies one record of user-batches. `wall_ms` is the wall clock's.
  Result<Applied> apply(std::string_view record, int64_t wall_ms, std::string& detail);
  const std::optional<MergedWatermark>& watermark() const { return watermark_; }
  const MergeStats& stats() const { return stats_; }

 private:
  Status unite(UserBatchReader& reader, std::string_view record, int64_t now_ms);
  void add_user(UserBatchReader& reader, int64_t now_ms);
  Status apply_forgets(int64_t now_ms);
  int64_t reach_ms(const DrainedForget& forget) const;
  Status flush_updates();
  Status end_slot(const SlotEnd& end, int64_t wall_ms);

  // Updates refer to items by range while items_ grows.
  struct Pending {
    std::string_view user_key;  // Of the record that is being applied.
    PeriodIndex period;
    size_t items_begin;
    size_t items_end;
  };
  // One user's part of the record.
  struct User {
    size_t pending_begin;
    size_t pending_end;
    std::vector<DrainedForget> forgets;
  };
  bool take_forgets(const User& user, ForgottenUpdate& update, int64_t now_ms);
  bool take_plays(const User& user, Forgotten& forgotten);

  MergeConfig config_;
  const Calendar& calendar_;
  FilterStore& store_;
  std::optional<MergedWatermark> watermark_;
  MergeStats stats_;
  DrainHeader drain_;                        // Of the drain whose batches are being read...
  std::unordered_set<uint64_t> drain_seen_;  // ...and the hashes of its records: one may be in the log twice.
  std::vector<Pending> pending_;
  std::vector<ItemHash> items_;
  std::vector<int64_t> times_ms_;  // Of the items.
  std::vector<ItemHash> quarter_items_;
  std::vector<int64_t> quarter_times_ms_;
  std::vector<User> users_;
  std::vector<std::string_view> user_keys_;  // Of the users.
  std::vector<Forgotten> forgotten_;         // As it is stored, of the users.
  std::vector<ForgottenUpdate> forgotten_updates_;
  std::vector<FilterUpdate> updates_;
};

}  // namespace bloomring
