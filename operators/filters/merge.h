// The merge stage's work on one partition of the filter view: unites user batches with the filters, keeps the users'
// forgets (schemas/forgotten.h), and moves the merged watermark.
//
// Forgets: Merge compares the exact event times of plays and forgets, and does not unite a forgotten play. A forget
// goes with every batch of plays that were logged after it. So a play that was merged before its forget became known
// here was logged before the forget's hour, and happened before the forget: the filters up to the forget's period may
// be removed, or masked for the item, as a whole, unless the forget is late or passed (state/forget_rule.h).
//
// Expiry: merged log time and the given wall clock together decide which plays have expired (state/merged_time.h), so
// that a clock that is months ahead skips no play. A slot end that moves the watermark notes the end of its newest hour
// there.
//
// Damage: of a forgotten value that cannot be read, Merge uses the good part: it unites the user's plays by it and adds
// new forgets to it. Queries about that user have a gap; other users are not affected (schemas/forgotten.h).
//
// Steps are pure on records: no Kafka, no threads, no clock reads. A step never waits for the store: `apply` begins an
// operation and returns nothing until the operation has ended (state/store/filter_writer.h).
//
//     apply --> batches --> [read forgotten values] --> [apply] --> applied
//          \--> slot end -----------------------------> [advance] --> applied
//
// Guarantees: the watermark moves over an hour only after this object has applied every batch of that hour's drain to
// the store, and the store makes both durable in this order (operators/merge_progress.h). Batches of a range that is
// merged already are skipped.
// Errors: those of the filter store; the same record may be applied again.
// Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_ref.h"
#include "operators/merge_progress.h"
#include "operators/view_merge.h"
#include "schemas/user_batch.h"
#include "state/period.h"
#include "state/store/filter_writer.h"

namespace bloomring {

struct MergeConfig {
  PartitionId partition;
  uint32_t partition_count = 1;
  int64_t slot_ms = 3'600'000;  // Of the hours in slot ends.
  SumKey slot_end_key = {};     // The store's (WatermarkReader::slot_end_key).
};

// Counts since the start, for metrics.
struct MergeStats {
  uint64_t records = 0;
  uint64_t batches = 0;          // Users' batches united.
  uint64_t plays = 0;            // Plays united.
  uint64_t plays_expired = 0;    // Plays of a period beyond retention: counted and skipped.
  uint64_t plays_forgotten = 0;  // Plays that the user has forgotten: counted and skipped.
  uint64_t forgets = 0;          // Those that changed the stored forgets.
  uint64_t forgotten_damaged = 0;  // Users' batches merged by a damaged forgotten value.
  uint64_t records_covered = 0;  // Records of a range that was merged already.
  uint64_t slot_ends = 0;
  uint64_t slot_ends_incomplete = 0;  // Not all of their batches were seen.
  uint64_t slot_ends_doubted = 0;     // Of another key or version, or with other batches.
  uint64_t watermark_moves = 0;
};

class Merge final : public ViewMerge {
 public:
  // `watermark` is the partition's in the store, or nothing.
  Merge(MergeConfig config, const Calendar& calendar, std::unique_ptr<PartitionWriter> store,
        std::optional<MergedWatermark> watermark);

  Result<std::optional<Applied>> apply(std::string_view record, int64_t wall_ms, std::string& detail) override;
  // Makes everything applied durable, also without a slot end. False while the store works: call it again. Only between
  // two records.
  Result<bool> sync();
  const std::optional<MergedWatermark>& watermark() const override { return progress_.watermark(); }
  const MergeStats& stats() const { return stats_; }

 private:
  // The operation of the store for the record; the merge goes on when it has ended.
  enum class Step : uint8_t { kIdle, kReadForgotten, kApply, kAdvance, kSync };
  Result<Applied> begin(std::string_view record, int64_t wall_ms, std::string& detail);
  void begin_unite(UserBatchReader& reader);
  void end_apply(std::string_view record);
  void end_advance();
  void add_user(UserBatchReader& reader);
  void apply_forgets(std::vector<Forgotten> stored);
  bool is_passed(const Forget& forget) const;
  void begin_apply(std::string_view record);
  // Why the slot end is not believed, or nothing.
  std::string_view begin_end_slot(const SlotEnd& end, int64_t wall_ms);

  // Updates refer to items by range while items_ grows.
  struct Pending {
    UserRef user;  // Points into the current record.
    PeriodIndex period;
    size_t items_begin;
    size_t items_end;
  };
  // One user's part of the record.
  struct User {
    size_t pending_begin;
    size_t pending_end;
    std::vector<Forget> forgets;
  };
  bool take_forgets(const User& user, ForgottenUpdate& update);
  bool take_plays(const User& user, Forgotten& forgotten);

  MergeConfig config_;
  const Calendar& calendar_;
  MergeProgress progress_;
  MergeStats stats_;
  Step step_ = Step::kIdle;
  int64_t now_ms_ = 0;  // Decides for the record under way what has expired.
  std::vector<Pending> pending_;
  std::vector<ItemHash> items_;
  std::vector<int64_t> times_ms_;  // Of the items.
  std::vector<ItemHash> quarter_items_;
  std::vector<int64_t> quarter_times_ms_;
  std::vector<User> users_;
  std::vector<UserRef> user_refs_;  // Of the users.
  std::vector<ForgottenUpdate> forgotten_updates_;
  std::vector<FilterUpdate> updates_;
  const std::unique_ptr<PartitionWriter> store_;  // Last: a running operation borrows from the above.
};

}  // namespace bloomring
