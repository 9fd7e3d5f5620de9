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
// Hedges: a user without an answer after `hedge_after_ms` is asked for a second time, over another connection, while
// the first question stays under way; the first sound answer is taken.
//
//   first asked    second question
//   primary        a replica
//   replica        the primary; the replica again where it has answered, and the primary has not said its number
//
// In a cluster the second question obeys the rules above, so the primary must still say its number where a filter is
// missing. Where no slot can move, the replica is asked alone: it has one history with the primary, so what its state
// covers it has. It says its own number and, behind it, its state once more. A first question that fails is asked where
// the second one would be, at once.
// The state of the shard comes with the values, in one command to one server, so an answer is never taken for a newer
// watermark than the one that this server has.
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
    size_t client = 0;
    int number = 0;
    bool alone = false;  // No other server is asked.
    bool hedge = false;
  };
  RedisClient& client_of(const Attempt& attempt) { return *clients_[attempt.client % clients_.size()]; }
  RedisClient& client() { return *clients_[turn_++ % clients_.size()]; }
  bool hedges() const { return parts_.config.hedge_after_ms > 0; }
  void begin_user(const std::shared_ptr<Pending>& pending, size_t user, Attempt attempt);
  void ask(const std::shared_ptr<Pending>& pending, size_t user, Attempt attempt);
  // Of a question that is late.
  void hedge(const std::shared_ptr<Pending>& pending, size_t user, Attempt first, bool replica_answered);
  void take_answer(const std::shared_ptr<Pending>& pending, size_t user, Attempt attempt, Asked& asked);
  // The question that follows a failed one, if one does.
  std::optional<Attempt> next_attempt(const Pending& pending, size_t user, Attempt failed, const Asked& asked,
                                      const Status& failure);
  void note_behind(ShardId shard, Attempt attempt);
  Result<StoredUser> take_values(const Pending& pending, size_t user, Attempt attempt, Asked& asked);
  // True when the server that says the number has a key of which no value came, or may have one.
  static Result<bool> lacks(const Asked& asked, Attempt attempt, int64_t values);
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
