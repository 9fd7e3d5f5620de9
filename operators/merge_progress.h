// How a view's merged watermark moves: which batches of a drain were applied, and what its slot end makes of the
// watermark. The part of a ViewMerge that is the same for every view.
//
// Guarantees: a slot end moves nothing unless
//   - its keyed sum is that of the view's store: so a window stage that reads this store wrote it, for this range;
//   - this object has seen all batches of its drain, and no other ones: unseen ones may have been applied to a store
//     that has since gone back to a backup, or may have been deleted from their topic unread.
// A slot whose end moves nothing is drained again. Batches before a slot end of the store's key do not count for the
// next one: a run that was broken off, or a forger, may have left some with the head of every later run.
// Threading: a value used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "schemas/user_batch.h"
#include "schemas/watermark.h"

namespace bloomring {

class MergeProgress {
 public:
  // `watermark` is the partition's in the store, or nothing. `slot_ms` is the length of the hours in slot ends. `key`
  // is the store's for slot ends.
  MergeProgress(std::optional<MergedWatermark> watermark, int64_t slot_ms, const SumKey& key)
      : watermark_(std::move(watermark)), slot_ms_(slot_ms), key_(key) {}

  // A batch record of this drain begins. False when its range is merged already: the record is skipped.
  bool begin_batch(const DrainHeader& header);
  // The batch record is applied.
  void applied(std::string_view record);

  enum class End : uint8_t {
    kMoves,       // The caller makes everything durable, then `moved()`, and then calls `advanced`.
    kCovered,     // All of its hours are covered, or there is no place for its range.
    kUnsummed,    // Of a version without a keyed sum.
    kForged,      // Its keyed sum is not the store's.
    kIncomplete,  // Not all of its batches were seen, or those of another drain came between.
    kDiffers,     // As many batches were seen as it says, and they are other ones.
  };
  // Why the slot end moves nothing, for people; empty for kMoves and kCovered.
  static std::string_view describe(End end);
  // The effect of the slot end. `wall_ms` is the wall clock's; merged log time follows state/merged_time.h.
  End end_slot(const SlotEnd& end, int64_t wall_ms);
  const MergedWatermark& moved() const { return moved_; }
  void advanced() { watermark_ = moved_; }

  const std::optional<MergedWatermark>& watermark() const { return watermark_; }

 private:
  End judge(const SlotEnd& end) const;
  void begin_drain(const DrainHeader& header);

  std::optional<MergedWatermark> watermark_;
  int64_t slot_ms_;
  SumKey key_;
  MergedWatermark moved_;
  DrainHeader drain_;                  // Of the drain whose batches are being read...
  std::unordered_set<uint64_t> seen_;  // ...the digests of its records: one may be in the log twice...
  uint64_t digest_ = 0;                // ...and their sum.
};

}  // namespace bloomring
