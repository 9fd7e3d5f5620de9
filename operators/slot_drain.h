// One drain: turns the staged blocks of a slot into user batches.
//
// The work is cut into passes over disjoint ranges of shards, so that memory stays under a bound however large the
// slot is, and so that the window stage can spread the passes over the hour. Each pass reads the slot once and emits
// the batches of its shards: per user the plays sorted by quarter and item, without repeats, and the forgets. The same
// slot always gives the same batches, as long as the same earlier hours are unmerged (DrainHeader::forgets_digest).
// Users differ: when the plays of a pass do not fit into its memory, repeats go first, then the pass is cut in parts,
// each of which reads the slot: the fullest shard by itself, and a single shard by ranges of items, so that a user of
// any number of plays is drained within the bound. The forgets of an item are in the part of its plays.
// Guarantee: a pass takes at most kPassBytesPerEvent for each event of its bound and a quarter more. (One item that a
// user has played in more quarters of an hour than that is the exception: it cannot be cut.)
// Guarantee: with a play goes every forget of its user that was logged before the end of the play's hour, unless that
// forget is merged, or stands in user-batches before it. So when the merge stage unites a play, it knows all that was
// forgotten until then.
// A forget is late when plays after it may stand in hours before its own, which may be drained before anybody knows of
// it: when it happened before StagedHour::late_before_ms.
// Threading: used by the partition's task. Failure: that of the window store; kFatal where it holds other events of an
// hour than were staged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_table.h"
#include "operators/user_batch_writer.h"
#include "schemas/event_block.h"
#include "schemas/user_batch.h"
#include "state/window/ring.h"
#include "state/window/window_store.h"

namespace bloomring {

struct SlotDrainConfig {
  size_t pass_bytes_max = 64 << 20;  // Memory of one pass, and a quarter more: at least 1 MiB.
  size_t passes = 16;                // Into how many passes a large slot is cut at least.
  size_t record_bytes = 64 << 10;    // A user batches record is closed when it is so large: at most 256 KiB.
};

class SlotDrain {
 public:
  SlotDrain(Drain drain, PartitionId partition, uint32_t partition_count, SlotDrainConfig config);

  size_t passes() const { return passes_; }
  size_t passes_done() const { return pass_; }
  bool done() const { return pass_ == passes_; }
  const Drain& drain() const { return drain_; }
  // Appends the records of the next pass, or of a part of it: of nothing where it has to be cut first. The pass is done
  // when passes_done() says so.
  Status next_pass(WindowStore& store, std::vector<std::string>& records);
  // These hours were merged by an earlier drain and are removed from the store while this one is under way. Its batches
  // may lack their plays, so its slot end must not speak of them: the filter store may go back to a backup, which does
  // not have them, and meet it again.
  void forget(const std::vector<HourIndex>& released);
  // What ends the drain; meaningful once it is done. It speaks of at least one hour unless all were forgotten.
  SlotEnd slot_end() const;
  // The most events that were held at once.
  size_t events_held_max() const { return events_held_max_; }

  // What one event takes in memory during a pass: the entry, its sorted copy and its share of the user table.
  static constexpr size_t kPassBytesPerEvent = 24 + 16 + 16;

 private:
  struct Play {
    DrainedPlay play;
    uint32_t user;
  };
  struct Forget {
    uint32_t user;
    DrainedForget forget;
    auto operator<=>(const Forget&) const = default;
  };
  struct Shards {
    uint32_t from;
    uint32_t to;
  };
  // What is drained in one reading of the slot: of the shards the items [item_first, item_last].
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
  Status scan(WindowStore& store, const StagedHour& staged, Take take);
  void collect(Offset offset, EventBlockReader& reader, int64_t late_before_ms, Take take);
  bool make_room();
  void drop_repeats();
  void cut_part();
  std::optional<uint32_t> full_shard() const;
  void let_go();
  size_t events_held() const { return plays_.size() + 2 * forgets_.size(); }
  void sort_plays();
  void sort_forgets();
  std::span<const DrainedPlay> plays_of(uint32_t user);
  std::span<const DrainedForget> forgets_of(uint32_t user, size_t& at);
  void emit(std::vector<std::string>& records);

  Drain drain_;
  PartitionId partition_;
  uint32_t partition_count_;
  SlotDrainConfig config_;
  size_t passes_;
  size_t events_max_;  // That a pass may hold at once.
  size_t pass_ = 0;
  SlotEnd totals_;
  std::vector<HourIndex> released_;  // Merged meanwhile: the store does not have them any more.
  UserBatchWriter writer_;
  size_t events_held_max_ = 0;

  // Of the pass under way.
  std::vector<Part> parts_;  // What is left of it, the next one last; empty between passes.
  Part part_;                // The one that is being read.
  bool too_large_ = false;   // It must be cut.
  std::vector<Play> plays_;
  UserTable users_;
  std::vector<uint32_t> begins_;  // Where each user's plays begin in sorted_.
  std::vector<DrainedPlay> sorted_;
  std::vector<Forget> forgets_;
  std::vector<DrainedForget> user_forgets_;
};

}  // namespace bloomring
