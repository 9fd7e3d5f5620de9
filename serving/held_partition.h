// A partition that this replica holds: what it knows of the partition's users beside the filter store.
//
// Filled by one task that reads user-events (pipeline/), read by every request.
//
//     made at the watermark --> catching up --> ready
//
// It is ready once everything that the log held when the replica started has been applied; it stays ready afterwards,
// and a replica that falls behind later answers with the lag instead.
//
// Threading: `apply`, `release`, `expire`, `set_fresh_at_ms` and `set_ready` belong to the one writer; the rest is
// thread safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "schemas/event_block.h"
#include "serving/recent_plays.h"
#include "serving/served_items.h"
#include "state/period.h"
#include "state/watermark.h"

namespace bloomring {

class HeldPartition {
 public:
  HeldPartition(PartitionId id, const RecentPlaysConfig& config, const Calendar& calendar, Offset start,
                const ServedItemsConfig& served = {}, int64_t log_floor_ms = 0)
      : id_(id), recents_(config, calendar, start, log_floor_ms), served_(served) {}

  // Takes one record of user-events; see RecentPlays::apply. Records below `start`, which are merged, are taken for
  // what was served.
  void apply(Offset offset, int64_t log_time_ms, EventBlockReader& block) {
    const EventBlockReader again = block;
    if (offset < recents_.applied() || recents_.apply(offset, log_time_ms, block) > 0) apply_served(again);
  }

  // Takes up the watermark that was read from the filter store, and lets go what it allows to. To be called with
  // every watermark read, also when it has not moved: laps end by time.
  void release(const MergedWatermark& watermark, int64_t lap_floor_log_time_ms) {
    merged_.store(watermark.offset.value, std::memory_order_release);
    recents_.release(watermark, lap_floor_log_time_ms);
  }
  // Frees served items that are too old; to be called every few seconds.
  void expire(int64_t now_ms) { served_.expire(now_ms); }

  // Notes what this replica has just recorded, before it comes back through the log. Thread safe.
  void note_served(uint64_t user_hash, ItemHash item, int64_t time_ms) { served_.add(user_hash, item, time_ms); }
  void note_forget(uint64_t user_hash, const Event& forget) {
    recents_.note_forget(user_hash, forget.kind == EventKind::kForgetAll, forget.item, forget.time_ms);
  }

  // Everything that had reached the log at this wall time has been applied: the moment at which the brokers were asked
  // for the end that is reached, else the log time of what was applied last. Lag is the clock minus this.
  void set_fresh_at_ms(int64_t wall_time_ms) { fresh_at_ms_.store(wall_time_ms, std::memory_order_release); }
  void set_ready() { ready_.store(true, std::memory_order_release); }

  PartitionId id() const { return id_; }
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  int64_t fresh_at_ms() const { return fresh_at_ms_.load(std::memory_order_acquire); }
  // The offset of the last watermark given to `release`: a filter read from now on holds everything below it.
  Offset merged() const { return Offset(merged_.load(std::memory_order_acquire)); }
  const RecentPlays& recents() const { return recents_; }
  const ServedItems& served() const { return served_; }

 private:
  void apply_served(EventBlockReader block) {
    while (block.next_user()) {
      const uint64_t hash = user_hash(block.user_key());
      while (block.next_event()) {
        const Event& event = block.event();
        if (event.kind == EventKind::kServe) served_.add(hash, event.item, event.time_ms);
      }
    }
  }

  const PartitionId id_;
  RecentPlays recents_;
  ServedItems served_;
  std::atomic<bool> ready_{false};
  std::atomic<int64_t> fresh_at_ms_{0};
  std::atomic<int64_t> merged_{0};
};

// Which partitions this replica holds. Thread safe.
class PartitionDirectory {
 public:
  virtual ~PartitionDirectory() = default;
  virtual uint32_t partition_count() const = 0;
  // Shared, because a partition can be let go while a request still reads it. Null when it is not held here.
  virtual std::shared_ptr<HeldPartition> find(PartitionId partition) const = 0;
  // "host:port" of the other replicas that hold the partition; none when this one does not know them.
  virtual std::vector<std::string> holders(PartitionId partition) const = 0;
};

}  // namespace bloomring
