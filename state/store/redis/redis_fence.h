// The writer of one partition, as the shards of the partition know it: taken over once, then compared by every write.
//
//   take over:  read the owner --> write a larger one --> each shard: compare the state, write the new writer into it
//               --> the watermark becomes the least of itself and the marks
//
// A shard that changes between reading and writing is read again. The watermark goes back here, and only here, when a
// server lost writes: every stage notices it (docs/guarantees.md).
// Errors: kFenced when a later writer has the partition, kFatal when a server has lost writes since the take-over (the
// next start merges them again), kRetry when a server is away, kCorrupt for a state that is not ours.
// Threading: thread safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "state/store/redis/redis_store_parts.h"

namespace bloomring {

class RedisFence {
 public:
  // Waits. `client` and `parts` outlive the fence.
  static Result<std::unique_ptr<RedisFence>> take_over(RedisStoreParts& parts, RedisClient& client,
                                                       PartitionId partition);

  // The state of the shard as it should be there.
  std::string known(ShardId shard) const;
  // The state after one more write, and with this mark.
  std::string next(ShardId shard) const;
  std::string next_with(ShardId shard, const MergedWatermark& mark) const;
  // This writer has written one of them. One write of a shard is under way at a time.
  void wrote(ShardId shard, const std::optional<MergedWatermark>& mark);
  // A write found this state instead. ok: it is a write of this writer, and is known now; try again.
  Status found(ShardId shard, const std::string& state);

  // The same of the state under the owner's key, which counts the watermarks: one that arrives late, after a newer one,
  // is not written.
  std::string owner() const;
  std::string next_owner() const;
  void wrote_owner();
  Status found_owner(const std::string& owner);
  PartitionId partition() const { return partition_; }
  RedisPaceShare& share() { return share_; }

 private:
  RedisFence(RedisStoreParts& parts, PartitionId partition)
      : parts_(parts), partition_(partition), share_(parts.pace) {}
  Status take_partition(RedisClient& client);
  Status take_shards(RedisClient& client);
  std::string encode(const ShardState& owner) const;
  Result<bool> still_owner(RedisClient& client) const;
  Status settle_watermark(RedisClient& client);

  RedisStoreParts& parts_;
  const PartitionId partition_;
  RedisPaceShare share_;
  RedisWriter writer_;
  uint64_t epoch_seen_ = 0;  // Of a later writer in a shard.
  mutable std::mutex mutex_;
  ShardState owner_;
  std::map<ShardId, ShardState> states_;
};

}  // namespace bloomring
