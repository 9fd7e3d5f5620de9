// The recent plays of one partition: every play and every forget in the log from the merged watermark on, and up to a
// lap before it.
//
// Complements the filters on the read side: it holds the plays that are not yet in the filter store, so a play is seen
// from the moment this replica has read it. Held in memory and rebuilt from the log at start
// (docs/decisions/0006-recent-plays-in-memory.md).
//
// Structure: one generation for each slot of log time. A record with a log time far ahead opens a generation that log
// time does not reach for days; after that, a generation ends when a slot's length has passed within it. Stripes by
// user hash divide a generation. Each stripe has a flat hash map from a user's 64-bit hash to chunks of item hashes in
// an arena, so a whole generation is dropped at once. Users are known only by their hash: two users of a partition
// with the same 64 bits would share their plays (probability below 1e-4 for 50 million users).
//
// Guarantees:
// - A generation is dropped only when the merged watermark covers all its offsets, oldest first.
// - `lookup` returns an offset H and every play and forget of the user at offsets [H, applied) of the log. It may
//   return more. (Of a user's forgets of one item the latest is enough, and of more than Forgotten::kItemsMax the
//   latest are kept; those of everything stay. Of a user with very many plays it returns the latest play of each
//   wanted item, and one play at least.)
//   H is read after the plays were copied and raised before a generation is dropped; therefore a play that `lookup`
//   does not return lies below H, was durable in the filter store before the watermark that released it was read, and
//   is in every filter that is read after the lookup. Readers look up first and read filters second: no gap.
//
// Threading: one writer (`apply`, `release`), many readers (`lookup`, `note_forget`, `stats`). Each stripe has a mutex
// that is held for microseconds: for the few events of a block that fall into it, for the copy of one user's plays, or
// for kItemsAtOnce items of a user with very many.
// Memory: about 16 bytes a play and 32 a user and generation, 40 to 80 a forget and about 80 a user with forgets. All
// of it counts, also forgets that were noted. A user has at most Forgotten::kItemsMax forgets here.
// Above `bytes_max` covered generations are dropped before their lap is over, and the forgets of their records.
// Uncovered ones stay, and `over_bound` reports it: the merge stage is behind.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/scatter.h"
#include "schemas/event_block.h"
#include "schemas/forget.h"
#include "schemas/watermark.h"
#include "serving/query/play_table.h"
#include "state/period.h"

namespace bloomring {

struct RecentPlaysConfig {
  int64_t slot_ms = 3'600'000;       // Log time of one generation.
  size_t bytes_max = 1'024'000'000;  // Of this partition.
};

// The plays that a lookup returns of a user with very many (more than PlayTable::kChunkedPlaysMax in one generation):
// those of some items, plus up to a number of any. Of other generations it returns all. Borrows for the call.
struct WantedPlays {
  std::span<const ItemHash> items = {};
  size_t plays_max = 0;  // Of any item.
};
inline constexpr WantedPlays kAllPlays{.items = {}, .plays_max = SIZE_MAX};

struct RecentPlaysStats {
  uint64_t plays = 0;
  uint64_t forgets = 0;
  size_t bytes = 0;
  size_t generations = 0;
  Offset recent_from{0};
  uint64_t early_releases = 0;  // Generations dropped before their lap was over, to stay within bytes_max.
  bool over_bound = false;  // Above bytes_max, and the watermark does not cover the oldest generation.
};

class RecentPlays {
 public:
  // `start` is the first offset that will be applied, at or below the merged watermark. `log_floor_ms` is the end of
  // the hours that were merged before; earlier log times are raised to it. With `start` 0 these hours are of an older
  // log, which this one replaced. With both 0 nothing was ever merged.
  RecentPlays(const RecentPlaysConfig& config, Calendar calendar, Offset start, int64_t log_floor_ms = 0);

  // Takes the plays and forgets of one record of user-events, in the order of offsets. A record below applied() is a
  // repeat and changes nothing. A log time below the newest one is raised to it. Returns the number of other events,
  // which it ignores.
  size_t apply(Offset offset, int64_t log_time_ms, EventBlockReader& block);

  // Plays below `start` are not held, but decide which forgets are late (Forget::late). Both calls come before
  // anything is applied. `set_base_log_time`: such a record was read, with this log time and this newest play (0:
  // none).
  void set_base_log_time(int64_t log_time_ms, int64_t newest_play_ms);
  // Some of these records are not merged, so their hours are unknown.
  void lost_below_start() { hours_below_known_ = false; }

  // Drops generations, oldest first, that the watermark covers and whose last log time is below the floor (or that
  // exceed bytes_max). `watermark` was read from the filter store that queries read. Returns how many were dropped.
  size_t release(const MergedWatermark& watermark, int64_t lap_floor_log_time_ms);

  // Adds a forget (of everything, or of one item) that is durable in the log at `offset`. It is held until its record
  // is applied, however far this replica is behind and whatever is dropped meanwhile. If the record was applied
  // already, the call changes nothing. Thread safe.
  void note_forget(uint64_t user_hash, bool everything, ItemHash item, int64_t time_ms, Offset offset);

  // Appends the user's plays of periods from `oldest` on, newest generation first, forgotten ones too, and the user's
  // forgets; see the guarantees for `recent_from`. `left_out`: the user has more plays than `wanted`.
  struct Found {
    Offset recent_from;
    bool left_out = false;
  };
  Found lookup(uint64_t user_hash, PeriodIndex oldest, const WantedPlays& wanted, std::vector<RecentPlay>& plays,
               std::vector<Forget>& forgets) const;
  // The time of the user's latest play, of one item or of any; ItemTimes::kNever without one.
  int64_t newest_play_ms(uint64_t user_hash, std::optional<ItemHash> item) const;

  // The next offset to apply.
  Offset applied() const { return Offset(applied_.load(std::memory_order_acquire)); }
  RecentPlaysStats stats() const;
  // The most users that the search for one compares with; takes a walk over all of them.
  size_t longest_search() const;

 private:
  static constexpr size_t kStripeBits = 5;
  static constexpr size_t kStripes = size_t{1} << kStripeBits;

  struct Generation {
    int64_t slot = 0;
    OffsetRange offsets;
    int64_t least_log_time_ms = 0;
    int64_t last_log_time_ms = 0;
    uint64_t plays = 0;
    size_t bytes = 0;
  };
  // A forget that may not be in the filter store yet. It is dropped with the generation of its offset.
  struct UnmergedForget {
    Forget forget;
    bool noted = false;  // Its record is not applied yet.
  };
  struct Stripe {
    mutable std::mutex mutex;
    std::deque<std::unique_ptr<PlayTable>> tables;                  // Parallel to generations_.
    std::unordered_map<uint64_t, std::vector<UnmergedForget>, Scattered> forgets;  // By user hash; of few users.
    Offset forgets_applied{0};  // Forgets of records below it are here or were dropped.
  };
  struct PendingPlay {
    PlacedUser user;
    ItemHash item;
    int64_t time_ms;
  };
  struct PendingForget {
    uint64_t user_hash;
    UnmergedForget added;
  };

  void begin_generation_if_due(Offset offset, int64_t log_time_ms);
  int64_t newest_below_ms(int64_t log_time_ms) const;
  size_t collect(Offset offset, EventBlockReader& block);
  void insert_pending();
  static size_t bytes_of(const std::vector<UnmergedForget>& forgets);
  static void insert(std::vector<UnmergedForget>& forgets, const UnmergedForget& added);
  void add(Stripe& stripe, uint64_t user_hash, const UnmergedForget& added);
  void drop_forgets(Stripe& stripe);
  size_t bytes() const { return bytes_ + forget_bytes_.load(std::memory_order_relaxed); }
  void drop_oldest();
  bool may_drop(const Generation& oldest, const MergedWatermark& watermark, int64_t lap_floor_log_time_ms,
                bool* early) const;
  void look_for(const Stripe& stripe, PlacedUser user, std::span<const ItemHash> items,
                std::vector<RecentPlay>& plays) const;
  static constexpr size_t kItemsAtOnce = 512;
  static size_t stripe_of(uint64_t user_hash) { return user_hash >> (64 - kStripeBits); }

  const RecentPlaysConfig config_;
  const Calendar calendar_;
  const Offset start_;
  std::atomic<int64_t> recent_from_;
  std::atomic<int64_t> applied_;
  std::array<Stripe, kStripes> stripes_;
  std::atomic<size_t> forget_bytes_{0};  // Of all stripes.

  mutable std::mutex generations_mutex_;  // Guards what follows against `stats`; only the writer changes it.
  std::deque<Generation> generations_;
  size_t bytes_ = 0;  // Of plays.
  uint64_t early_releases_ = 0;
  bool over_bound_ = false;

  // The writer's own.
  int64_t newest_log_time_ms_ = 0;
  int64_t newest_play_ms_ = 0;  // By event time, which may be ahead of log time.
  int64_t late_before_ms_ = 0;  // Forgets of the newest generation before this time are late.
  const bool any_below_;        // Merged plays may exist below `start`, or in an older log.
  bool hours_below_known_;      // Records below `start` were logged before the log floor.
  std::optional<int64_t> below_logged_ms_;
  std::array<std::vector<PendingPlay>, kStripes> pending_;
  std::vector<PendingForget> pending_forgets_;
};

}  // namespace bloomring
