// One drain: turns the staged blocks of a slot into user batches.
//
// The work is cut into passes over disjoint ranges of shards, so that memory stays under a bound for a slot of any
// size, and so that the window stage can spread the passes over the hour. Each pass reads the slot once and emits the
// batches of its shards: per user the plays sorted by quarter and item, without repeats, and the forgets. The same slot
// always gives the same batches, as long as the same earlier hours are unmerged (DrainHeader::forgets_digest).
//
// When the plays of a pass do not fit into its memory, the pass first drops repeats. If they still do not fit, it is
// cut into parts, each of which reads the slot again: the fullest shard becomes a part of its own, and a single shard
// is cut by ranges of items. So a user with any number of plays is drained within the bound. The forgets of an item are
// in the part of its plays.
//
// A forget is late when plays after it may be in hours before its own, which may be drained before the forget is known:
// when it happened before HourForgets::late_before_ms.
//
// Guarantees: a pass takes at most kPassBytesPerEvent for each event of its bound and a quarter more. (Exception: one
// item that a user has played in more quarters of an hour than that cannot be cut.) With a play goes every forget of
// its user that was logged before the end of the play's hour, unless that forget is merged, or is in user-batches
// before the play. So when the merge stage unites a play, it knows every forget logged until then.
// Errors: those of the window store; kFatal where the store holds another number of events of an hour than was staged.
// Threading: used by the partition's task.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_table.h"
#include "operators/filters/filter_notes.h"
#include "operators/filters/user_batch_writer.h"
#include "operators/view.h"
#include "schemas/event_block.h"
#include "schemas/user_batch.h"
#include "state/window/ring.h"
#include "state/window/window_store.h"

namespace bloomring {

struct SlotDrainConfig {
  size_t pass_bytes_max = 64 << 20;  // A pass takes this and a quarter more: at least 1 MiB.
  size_t passes = 16;                // Least number of passes of a large slot.
  size_t record_bytes = 64 << 10;    // A user batches record is closed at this size: at most 256 KiB.
};

class SlotDrain final : public ViewDrain {
 public:
  // `forgets` of the drain's hours and of the earlier ones; an hour that it lacks has none.
  SlotDrain(Drain drain, ForgetsByHour forgets, PartitionId partition, uint32_t partition_count,
            SlotDrainConfig config);

  size_t passes() const override { return passes_; }
  size_t passes_done() const override { return pass_; }
  bool done() const { return pass_ == passes_; }
  // Appends no records when the part must be cut first. The pass is done when passes_done() has grown.
  Status next_pass(WindowStore& store, std::vector<std::string>& records) override;
  void drop_merged(const MergedWatermark& watermark) override;
  std::string slot_end(const SumKey& key) const override { return encode_slot_end(end(), key); }
  Totals totals() const override { return {writer_.batches(), totals_.plays, events_in_memory_max_}; }
  // The slot end of the drain, without a keyed sum; meaningful once it is done.
  SlotEnd end() const;

  // Memory of one event during a pass: the entry, its sorted copy and its share of the user table.
  static constexpr size_t kPassBytesPerEvent = 24 + 16 + 16;

 private:
  struct Play {
    DrainedPlay play;
    uint32_t user;
  };
  struct UserForget {
    uint32_t user;
    Forget forget;
    auto operator<=>(const UserForget&) const = default;
  };
  struct Shards {
    uint32_t from;
    uint32_t to;
  };
  // The part drained in one reading of the slot: the items [item_first, item_last] of the shards.
  struct Part {
    Shards shards;
    uint64_t item_first = 0;
    uint64_t item_last = ~uint64_t{0};
    bool takes(ItemHash item) const { return item_first <= item.value && item.value <= item_last; }
    bool can_be_cut() const { return shards.to - shards.from > 1 || item_first < item_last; }
  };
  enum class Take { kAll, kForgets };
  DrainHeader header() const;
  Shards shards_of_pass() const;
  Status collect_part(WindowStore& store);
  int64_t late_before_ms(HourIndex hour) const { return forgets_of_.at(hour).late_before_ms; }
  Status scan(WindowStore& store, const StagedHour& staged, Take take);
  void collect(Offset offset, EventBlockReader& reader, int64_t late_before_ms, Take take);
  bool make_room();
  void drop_repeats();
  void cut_part();
  std::optional<uint32_t> full_shard() const;
  void free_part();
  size_t events_in_memory() const { return plays_.size() + 2 * forgets_.size(); }
  void sort_plays();
  void sort_forgets();
  std::span<const DrainedPlay> plays_of(uint32_t user);
  std::span<const Forget> forgets_of(uint32_t user, size_t& at);
  void emit(std::vector<std::string>& records);

  Drain drain_;  // `earlier` are those with forgets.
  ForgetsByHour forgets_of_;
  PartitionId partition_;
  uint32_t partition_count_;
  SlotDrainConfig config_;
  size_t passes_;
  size_t events_max_;  // Bound of a pass.
  size_t pass_ = 0;
  SlotEnd totals_;
  std::vector<HourIndex> merged_;  // During the drain: perhaps no longer in the store.
  UserBatchWriter writer_;
  size_t events_in_memory_max_ = 0;

  // Of the pass under way.
  std::vector<Part> parts_;  // Remaining parts, the next one last; empty between passes.
  Part part_;                // The one being read.
  bool too_large_ = false;   // It must be cut.
  std::vector<Play> plays_;
  UserTable users_;
  std::vector<uint32_t> begins_;  // Where each user's plays begin in sorted_.
  std::vector<DrainedPlay> sorted_;
  std::vector<UserForget> forgets_;
  std::vector<Forget> user_forgets_;
};

}  // namespace bloomring
