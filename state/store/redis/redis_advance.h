// Advancing the watermark of a partition in a Redis filter store, as an operation of its PartitionWriter.
//
//   [mark in every shard, replicas acknowledge] --> [watermark, replicas acknowledge]
//
// Guarantees: the watermark is written after every shard has its mark, and as many replicas as the configuration asks
// for have acknowledged both.
// Errors: as filter_writer.h; as redis_fence.h; kRetry where too few replicas acknowledge.
// Threading: as RedisOperation (redis_writes.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "state/store/redis/redis_writes.h"

namespace bloomring {

// Marks every shard, then writes the watermark; without a watermark it marks the shards with what they have, so that
// replicas acknowledge all that was written before, and a writer learns that it was replaced, or that a server has lost
// some of it.
class RedisAdvance final : public RedisOperation {
 public:
  RedisAdvance(RedisWriteParts parts, std::optional<MergedWatermark> watermark);
  void begin();

 private:
  void go_on() override;
  void mark(ShardId shard);
  void take_marked(ShardId shard, RedisAnswer answer);
  void write_watermark();
  void take_watermark(RedisAnswer answer);
  RedisRequest with_wait(std::string commands, const std::string& key) const;
  Status check_wait(const std::vector<RedisReply>& replies, std::string_view key) const;

  const std::optional<MergedWatermark> watermark_;
  std::vector<ShardId> waiting_;
  bool watermark_begun_ = false;
  int watermark_tries_ = 0;
};

}  // namespace bloomring
