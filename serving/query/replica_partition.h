// A partition that this replica holds: its state of the partition's users in addition to the filter store.
//
// Filled by one task that reads user-events (pipeline/), read by every request.
//
//     made at the watermark --> catching up --> ready
//
// The partition is ready when all records are applied that the log held when the replica started. It stays ready
// unless its log is lost. A replica that falls behind later reports the lag in its answers.
//
// Threading: `apply`, `release`, `expire`, `set_fresh_at_ns` and `set_ready` belong to the one writer; the rest is
// thread safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "schemas/event_block.h"
#include "schemas/watermark.h"
#include "serving/query/known_scenes.h"
#include "serving/query/log_time.h"
#include "serving/query/recent_plays.h"
#include "serving/query/served_items.h"
#include "state/period.h"

namespace bloomring {

class ReplicaPartition {
 public:
  ReplicaPartition(PartitionId id, const RecentPlaysConfig& config, const Calendar& calendar, Offset start,
                const ServedItemsConfig& served = {}, int64_t log_floor_ms = 0)
      : id_(id), recents_(config, calendar, start, log_floor_ms), served_(served), log_time_(log_floor_ms) {}

  // Takes one record of user-events; see RecentPlays::apply. Of records below `start`, which are merged, only serves
  // are taken.
  void apply(Offset offset, int64_t log_time_ms, EventBlockReader& block) {
    const EventBlockReader again = block;
    if (scenes_ != nullptr) note_scenes(again);
    const bool below = offset < recents_.applied();
    if (below) recents_.set_base_log_time(log_time_ms, block.newest_play_ms());
    if (below || recents_.apply(offset, log_time_ms, block) > 0) apply_served(again, log_time_ms);
  }

  // Takes a watermark that was read from the filter store, and drops the plays that it allows to drop. To be called
  // with every watermark read, also an unchanged one: laps end by time.
  void release(const MergedWatermark& watermark, int64_t lap_floor_log_time_ms) {
    merged_.store(watermark.offset.value, std::memory_order_release);
    recents_.release(watermark, lap_floor_log_time_ms);
  }
  // Frees served items that are too old; to be called every few seconds.
  void expire(int64_t now_ms) { served_.expire(now_ms); }

  // Both add an event that this replica has just appended, so that it counts at once, before or after its record
  // arrives from the log. `offset` is the record's. Thread safe. (A serve needs no offset: adding it again changes
  // nothing.)
  void note_served(uint64_t user_hash, ItemHash item, int64_t time_ms) { served_.add(user_hash, item, time_ms); }
  void note_forget(uint64_t user_hash, const Event& forget, Offset offset) {
    recents_.note_forget(user_hash, forget.kind == EventKind::kForgetAll, forget.item, forget.time_ms, offset);
  }

  // Everything that was in the log at this steady time is applied. The time is that of the request to the brokers for
  // the end of the log that is now reached. No wall clock is used.
  void set_fresh_at_ns(int64_t steady_ns) { fresh_at_ns_.store(steady_ns, std::memory_order_release); }
  void set_ready(bool ready = true) { ready_.store(ready, std::memory_order_release); }
  // Records below this offset have left the log, and the unmerged ones among them are missing here. To be called
  // before anything is read.
  void set_lost_below(Offset offset) {
    lost_below_ = offset;
    if (offset > Offset(0)) recents_.lost_below_start();
  }

  // `scenes` gets the scene of every user before any event of the user can be looked up. To be called before anything
  // is read. `scenes` outlives the partition's writer.
  void set_scenes(KnownScenes* scenes) { scenes_ = scenes; }

  PartitionId id() const { return id_; }
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // The most that the partition is behind its log. About 146 years until it is fresh for the first time.
  int64_t lag_ms(int64_t steady_ns) const {
    return (steady_ns - fresh_at_ns_.load(std::memory_order_acquire)) / 1'000'000;
  }
  // The offset of the last watermark given to `release`: a filter read from now on holds everything below it.
  Offset merged() const { return Offset(merged_.load(std::memory_order_acquire)); }
  // True when filters read from now on and the recent plays leave no gap between them.
  bool joins_filters() const { return merged() >= lost_below_; }
  const RecentPlays& recents() const { return recents_; }
  const ServedItems& served() const { return served_; }
  LogTime& log_time() { return log_time_; }
  const LogTime& log_time() const { return log_time_; }

 private:
  // A serve cannot be later than its log time: a time from a clock that is ahead would keep it for too long.
  void apply_served(EventBlockReader block, int64_t log_time_ms) {
    while (block.next_user()) {
      const uint64_t hash = block.user().hash;
      while (block.next_event()) {
        const Event& event = block.event();
        if (event.kind == EventKind::kServe) served_.add(hash, event.item, std::min(event.time_ms, log_time_ms));
      }
    }
  }

  void note_scenes(EventBlockReader block) {
    while (block.next_user()) {
      const std::string_view key = block.user_key();
      const std::string_view scene = key.substr(1, static_cast<unsigned char>(key.front()));
      if (scene == kClockScene || std::ranges::find(scenes_noted_, scene) != scenes_noted_.end()) continue;
      scenes_->note(scene);
      if (scenes_noted_.size() < kScenesMax) scenes_noted_.emplace_back(scene);
    }
  }

  const PartitionId id_;
  RecentPlays recents_;
  ServedItems served_;
  std::atomic<bool> ready_{false};
  Offset lost_below_{0};
  LogTime log_time_;
  KnownScenes* scenes_ = nullptr;
  std::vector<std::string> scenes_noted_;  // The writer's own.
  std::atomic<int64_t> fresh_at_ns_{INT64_MIN / 2};
  std::atomic<int64_t> merged_{0};
};

// The partitions that this replica holds.
// Threading: thread safe.
class PartitionDirectory {
 public:
  virtual ~PartitionDirectory() = default;
  virtual uint32_t partition_count() const = 0;
  // Shared, because the replica can release a partition while a request still reads it. Null when it is not held here.
  virtual std::shared_ptr<ReplicaPartition> find(PartitionId partition) const = 0;
  // "host:port" of the other replicas that hold the partition; none when this one does not know them.
  virtual std::vector<std::string> holders(PartitionId partition) const = 0;
  // The scenes that are known, for a site whose scenes have separate filters.
  virtual AllScenes scenes() const { return {{""}, "the scenes are not known"}; }
};

// The partition of the user key. kRetry when it is not held here, or is catching up.
inline Result<std::shared_ptr<ReplicaPartition>> find_ready(const PartitionDirectory& partitions,
                                                          const UserKey& user_key) {
  const PartitionId id = partition_of(shard_of(user_key.bytes()), partitions.partition_count());
  std::shared_ptr<ReplicaPartition> partition = partitions.find(id);
  const std::string name = "partition " + std::to_string(id.value);
  if (partition == nullptr) return retry(name + " is not held here");
  if (!partition->ready()) return retry(name + " is catching up");
  return partition;
}

}  // namespace bloomring
