// Reading a Redis filter store: filters of users, watermarks.
//
// A read of many users is one command for each user (MGET of the wanted periods, the forgotten value and the state of
// the shard), all of them on the way at once. The answer of a user is taken when the mark in the shard covers every
// watermark that this process knew when the read began, also after the store went back; see
// schemas/store/shard_state.h. With `read_replicas` a replica is asked first, and the primary when the replica is
// behind that watermark or away.
//
// MGET answers nil where a key holds a list or the like. A replica also answers nil for a filter of a slot that moves,
// although its state covers all: filters arrive and leave one by one. So each read asks the primary at the same time
// how many of the keys exist (EXISTS), and takes no answer with fewer values: it asks the primary for the values. The
// number tells something only of the same state of the shard: a replica that lacks a moved filter may still have one
// that the primary has removed. So next to a replica the primary is asked for its state, too, before and behind the
// number.
// When the primary itself has a key without a string, the answer is corrupt.
//
// A shard of a primary that is behind is in doubt: an old primary that is cut off answers for a moment, too.
// `settle_doubts` asks again; a shard that stays behind for kDoubtMs lowers the watermark (HeardWatermarks::lower),
// which tells the stages that the store went back.
// Errors: per user as filter_reader.h; kRetry for a shard that is behind.
// Threading: thread safe. Reads end on the threads of the clients.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "state/store/filter_reader.h"
#include "state/store/redis/redis_store_parts.h"

namespace bloomring {

class RedisReads {
 public:
  // Both outlive the reads. The clients are closed before one of them goes: the end of a request may ask any of them.
  RedisReads(RedisStoreParts& parts, std::vector<std::unique_ptr<RedisClient>>& clients)
      : parts_(parts), clients_(clients) {}

  void begin(std::shared_ptr<FilterRead> read);
  // The watermark of the partition that all of its shards have. Waits. kRetry where a server tells of a time before
  // this process took the partition over: what it says is not what this process's writer has.
  Result<std::optional<MergedWatermark>> watermark(PartitionId partition);
  // All partitions' watermarks as they are written, to parts.heard. Waits.
  Status hear_watermarks();
  Status settle_doubts();

  static constexpr int64_t kDoubtMs = 5'000;

 private:
  class Pending;
  struct Asked;
  struct Attempt {
    bool replica = false;
    int number = 0;
  };
  RedisClient& client() { return *clients_[turn_++ % clients_.size()]; }
  void begin_user(const std::shared_ptr<Pending>& pending, size_t user, Attempt attempt);
  void take_user(const std::shared_ptr<Pending>& pending, size_t user, Attempt attempt, Asked& asked);
  Result<StoredUser> take_values(Pending& pending, size_t user, Asked& asked);
  // True when the primary has a key of which no value came, or may have one.
  static Result<bool> lacks(const Asked& asked, int64_t values);
  Result<std::optional<MergedWatermark>> take_heard(RedisAnswer answer, PartitionId partition);
  void doubt(ShardId shard);
  Status settle_doubt(ShardId shard, int64_t since_ms);
  Result<RedisReply> ask_for(const std::string& key);  // Waits.

  RedisStoreParts& parts_;
  std::vector<std::unique_ptr<RedisClient>>& clients_;
  std::atomic<size_t> turn_{0};
  std::mutex mutex_;
  std::map<ShardId, int64_t> doubts_;  // Since when, steady ms.
};

}  // namespace bloomring
