// Writing a Redis filter store: the operations of a PartitionWriter, each begun on the caller's thread and carried on
// by the thread of the client. The advance of a watermark is in redis_advance.h.
//
//   apply:    [forgotten values, removals] --> [read 32 filters of a shard, unite, compare-and-set] x many at once
//
// An apply keeps to the pace of the process (state/redis/redis_pace.h): a chunk begins when the pace lets it, and has
// its place until it is written. Chunks that wait for the pace go on when an answer comes or `take_end` is called.
// A union that adds nothing is not written, where the state of the shard is the known one. A value that another writer
// changed meanwhile is read and united again. A value that is not ours is kept under its "aside" key before a damaged
// value (schemas/damaged_value.h) replaces it.
// Errors: as filter_writer.h; as redis_fence.h.
// Threading: an operation is thread safe; it never calls back.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "state/store/filter_writer.h"
#include "state/store/redis/redis_fence.h"

namespace bloomring {

struct RedisWriteParts {
  RedisStoreParts& store;
  RedisClient& client;
  std::shared_ptr<RedisFence> fence;  // Shared with requests that outlive the writer.
};

// The end of an operation under way. Shared with its requests.
class RedisOperation : public std::enable_shared_from_this<RedisOperation> {
 public:
  virtual ~RedisOperation() = default;
  // Never waits. To be called every few milliseconds: an operation that waits for its pace goes on here.
  std::optional<Status> take_end();
  // Begins nothing more. Requests that are on their way may still be carried out, as far as the fence lets them.
  void cancel();

 protected:
  explicit RedisOperation(RedisWriteParts parts) : parts_(std::move(parts)) {}

  // These with the mutex held.
  // Sends the request. `taken` gets the answer, unless the operation has failed meanwhile; then comes `go_on`.
  void send(RedisRequest request, std::function<void(RedisAnswer)> taken);
  // Begins what may be under way, and ends the operation when nothing is left.
  virtual void go_on() = 0;
  void fail(Status status);
  bool failed() const { return failure_.has_value(); }
  void end();  // With the failure, if there is one.

  const RedisWriteParts parts_;
  mutable std::mutex mutex_;
  size_t under_way_ = 0;
  bool waits_for_pace_ = false;

 private:
  std::optional<Status> failure_;
  std::optional<Status> end_;
};

// A change of one key, by compare-and-set.
struct RedisChange {
  ShardId shard;
  std::string logical_key;
  std::string key;
  std::string operand;                 // To unite with what is stored...
  bool closed = false;                 // ...in a period that is over.
  std::optional<std::string> replace;  // Instead of a union: the whole value; "" removes it.
  bool imported = false;               // `replace` is of another store: what it replaces is not kept aside.
  std::optional<std::string> read;     // The value that `replace` was made from; nothing: any.
  std::vector<std::string> removed;    // Keys to remove with it.
  std::optional<int64_t> expires_ms;
  int tries = 0;
};

class RedisApply final : public RedisOperation {
 public:
  // Changes of `first` are all written before one of `second`.
  RedisApply(RedisWriteParts parts, std::vector<RedisChange> first, std::vector<RedisChange> second);
  void begin();

 private:
  using Chunk = std::vector<RedisChange*>;  // Of one shard.
  using Place = std::shared_ptr<RedisPacePlace>;  // See RedisPacePlace::begin.
  void fill(std::vector<RedisChange>& changes);
  void go_on() override;
  Chunk next_chunk();
  int64_t now_ns() const;
  void read(const Chunk& chunk, const Place& place);
  void take_values(const Chunk& chunk, const Place& place, RedisAnswer answer);
  void add_sets(RedisChange& change, RedisReply& stored, bool ours, std::vector<RedisSet>& sets);
  void write(const Chunk& chunk, const Place& place, const std::vector<size_t>& first_sets,
             const std::vector<RedisSet>& sets);
  void take_written(const Chunk& chunk, const std::vector<size_t>& first_sets, RedisAnswer answer);
  void take_written(RedisChange& change, std::span<const RedisReply> done);
  void move_aside(RedisChange& change, const std::string& key);
  std::string state_key_of(const RedisChange& change) const;
  void again(RedisChange& change);
  void send_to(ShardId shard, std::string commands, std::function<void(RedisAnswer)> taken);

  std::vector<RedisChange> first_;
  std::vector<RedisChange> second_;
  bool second_begun_ = false;
  std::map<ShardId, std::vector<RedisChange*>> waiting_;
  std::map<ShardId, size_t> busy_;  // Requests under way: each write expects the state that the last one left.
};

// Reads the forgotten values of users.
class RedisReadForgotten final : public RedisOperation {
 public:
  struct User {
    ShardId shard;
    std::string logical_key;
    std::string key;
  };
  RedisReadForgotten(RedisWriteParts parts, std::vector<User> users);
  void begin();
  // After an end with ok.
  std::vector<Forgotten> take() { return std::move(forgotten_); }
  // The bytes as read, by logical key; empty where there was none.
  std::map<std::string, std::string, std::less<>> take_bytes() { return std::move(bytes_); }

 private:
  void go_on() override;
  void read(const std::vector<size_t>& chunk);
  void take_values(const std::vector<size_t>& chunk, RedisAnswer answer);

  const std::vector<User> users_;
  std::vector<Forgotten> forgotten_;
  std::map<std::string, std::string, std::less<>> bytes_;
};

}  // namespace bloomring
