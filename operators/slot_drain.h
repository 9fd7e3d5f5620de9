// One drain: turns the staged blocks of a slot into user batches.
//
// The work is cut into passes over disjoint ranges of shards, so that memory stays under a bound however large the
// slot is, and so that the window stage can spread the passes over the hour. Each pass reads the slot once and emits
// the batches of its shards: per user the plays sorted by quarter and item, without repeats, and the forgets. The same
// slot always gives the same batches, as long as the same earlier hours are unmerged (DrainHeader::forgets_digest).
// Guarantee: with a play goes every forget of its user that was logged before the end of the play's hour, unless that
// forget is merged. So when the merge stage unites a play, it knows all that was forgotten until then.
// A forget is late when plays after it may stand in hours before its own, which may be drained before anybody knows of
// it: when it happened before StagedHour::late_before_ms.
// Threading: used by the partition's task. Failure: that of the window store.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/user_table.h"
#include "schemas/user_batch.h"
#include "state/ring.h"
#include "state/window_store.h"

namespace bloomring {

struct SlotDrainConfig {
  size_t pass_bytes_max = 64 << 20;  // Memory of one pass: at least 1 MiB.
  size_t passes = 16;                // Into how many passes a large slot is cut at least.
  size_t record_bytes = 64 << 10;    // A user batches record is closed when it is so large.
};

class SlotDrain {
 public:
  SlotDrain(Drain drain, PartitionId partition, uint32_t partition_count, SlotDrainConfig config);

  size_t passes() const { return passes_; }
  size_t passes_done() const { return pass_; }
  bool done() const { return pass_ == passes_; }
  const Drain& drain() const { return drain_; }
  // Appends the records of the next pass.
  Status next_pass(WindowStore& store, std::vector<std::string>& records);
  // These hours were merged by an earlier drain and are removed from the store while this one is under way. Its batches
  // may lack their plays, so its slot end must not speak of them: the filter store may go back to a backup, which does
  // not have them, and meet it again.
  void forget(const std::vector<HourIndex>& released);
  // What ends the drain; meaningful once it is done. It speaks of at least one hour unless all were forgotten.
  SlotEnd slot_end() const;

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
  enum class Take { kAll, kForgets };
  DrainHeader header() const;
  Shards shards_of_pass() const;
  Status scan(WindowStore& store, const StagedHour& staged, Shards shards, Take take);
  void collect(Offset offset, std::string_view block, int64_t late_before_ms, Shards shards, Take take);
  void sort_plays();
  void sort_forgets();
  std::span<const DrainedPlay> plays_of(uint32_t user);
  std::span<const DrainedForget> forgets_of(uint32_t user, size_t& at);
  void emit(std::vector<std::string>& records);
  void close_record(std::vector<std::string>& records);

  Drain drain_;
  PartitionId partition_;
  uint32_t partition_count_;
  SlotDrainConfig config_;
  size_t passes_;
  size_t expected_plays_;  // Of one pass, with an eighth to spare.
  size_t pass_ = 0;
  SlotEnd totals_;

  // Of the pass under way.
  std::vector<Play> plays_;
  UserTable users_;
  std::vector<uint32_t> begins_;  // Where each user's plays begin in sorted_.
  std::vector<DrainedPlay> sorted_;
  std::vector<Forget> forgets_;
  std::vector<DrainedForget> user_forgets_;
  UserBatchBuilder builder_;
};

}  // namespace bloomring
