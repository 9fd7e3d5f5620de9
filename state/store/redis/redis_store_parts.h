// The parts that the reader, the writers and the administration of one Redis filter store share. Included by sources
// of this folder only.
//
// Threading: thread safe.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "filter/filter.h"
#include "schemas/store/redis_key.h"
#include "schemas/store/shard_state.h"
#include "state/merged_time.h"
#include "state/redis/redis_client.h"
#include "state/redis/redis_hedges.h"
#include "state/redis/redis_pace.h"
#include "state/redis/redis_slot.h"
#include "state/store/filter_life.h"
#include "state/store/stored_values.h"

namespace bloomring {

struct RedisStoreConfig {
  std::vector<RedisAddress> addresses;  // At least one.
  RedisLogin login;
  std::string prefix = "bloomring:";
  filter::Policy policy;
  uint32_t partition_count = 1;  // Fixed for the life of the store.
  uint64_t import_id = 0;        // Opened for this import (state/store/store_import.h); 0: for a stage or a tool.
  uint32_t min_replicas = 0;     // That must have acknowledged a write before a watermark covers it.
  bool read_replicas = false;    // Reads ask replicas first.
  int64_t hedge_after_ms = 0;    // A read without an answer by then is asked a second time; 0: never.
  uint32_t hedge_percent = 5;    // At most so many of 100 reads.
  uint32_t connections = 4;      // To each server for reads; a thread each.
  int64_t timeout_ms = 1000;     // Of a read, and the silence after which a server counts as away.
  uint64_t write_bytes_per_second = 0;  // Of the whole installation; 0: no bound.
  int64_t clock_check_ms = 60'000;      // Between two looks at the clocks of the servers.
};

// Compare-and-set of values in one slot, under the fence:
//   KEYS: the state of the shard, then the keys to write.
//   ARGV: the state as the writer knows it, the state after the write ("" leaves it), then for each key
//         the SHA-1 of the value as it was read ("" for none, "*" for any string), the new value ("" removes it), and
//         when it expires (Unix ms; "" for never).
// Returns {state} when the state differs; otherwise {1, r...} with r = 1 written, 0 the value differs, -1 the key holds
// no string. Such a value is not ours: it is neither overwritten nor removed. Some servers write the digits of
// SHA-1 in capitals.
inline constexpr std::string_view kCompareAndSet = R"lua(
local state = redis.call('GET', KEYS[1]) or ''
if state ~= ARGV[1] then return {state} end
local done = {1}
local wrote = false
for i = 2, #KEYS do
  local at = i * 3 - 3
  local sum = ARGV[at]
  local old = redis.pcall('GET', KEYS[i])
  done[i] = 1
  if type(old) == 'table' then done[i] = -1
  elseif sum ~= '*' and sum ~= (old and string.lower(redis.sha1hex(old)) or '') then done[i] = 0 end
  if done[i] == 1 then
    wrote = true
    if ARGV[at + 1] == '' then redis.call('DEL', KEYS[i])
    else
      redis.call('SET', KEYS[i], ARGV[at + 1])
      if ARGV[at + 2] ~= '' then redis.call('PEXPIREAT', KEYS[i], ARGV[at + 2]) end
    end
  end
end
if wrote and ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2]) end
return done
)lua";

// Moves a key that holds no string aside, under the fence: KEYS state, key, aside; ARGV state. Leaves a string where it
// is. Returns {state} when the state differs; otherwise {1, 1 when it moved the key}.
inline constexpr std::string_view kMoveAside = R"lua(
local state = redis.call('GET', KEYS[1]) or ''
if state ~= ARGV[1] then return {state} end
if type(redis.pcall('GET', KEYS[2])) ~= 'table' then return {1, 0} end
redis.call('RENAME', KEYS[2], KEYS[3])
return {1, 1}
)lua";

// One entry of kCompareAndSet.
struct RedisSet {
  std::string key;
  std::string expected;  // As ARGV says.
  std::string value;
  std::optional<int64_t> expires_ms = {};
};
std::string compare_and_set(std::string_view state_key, std::string_view state, std::string_view next_state,
                            const std::vector<RedisSet>& sets);
// The state that kCompareAndSet found instead of the known one, "" for none; nothing when it was the known one.
std::optional<std::string> other_state(const RedisReply& reply);
// kCorrupt when the first key that kCompareAndSet was to write holds no string. Not for an other_state.
Status check_set(const RedisReply& reply, std::string_view key);
// Lower-case hexadecimal SHA-1, as redis.sha1hex.
std::string sha1_hex(std::string_view bytes);
// The value of a key as RedisSet expects it: a value of no bytes is another thing than no value.
std::string expected_of(const RedisReply& value);

inline constexpr std::string_view kAnyValue = "*";

// Commands for the server of the key's slot, and GET of the key.
RedisRequest request_at(std::string_view key, std::string commands);
RedisRequest get_request(std::string_view key);
// The reply to the one command of a request. An error reply is a failure, which names `what`.
Result<RedisReply> only_reply(RedisAnswer answer, std::string_view what);

// The watermarks as last heard, with what reads found out since.
//
// Hearing takes time, and two may overlap: what this process wrote, or heard in a later turn, is not replaced by an
// answer that may be older (`begin_hearing`, `hear`).
// A watermark that cannot be read is a failure of its partition alone.
//
// `of` follows a store that went back; `promised` never does. Stages release recent plays by `of`, and notice only some
// time after it that it went back. So a read compares with what any stage of this process may have released by.
class HeardWatermarks {
 public:
  using All = std::vector<Result<std::optional<MergedWatermark>>>;
  // Nothing was heard yet: kRetry with the reason.
  Result<std::optional<MergedWatermark>> of(PartitionId partition) const;
  // All that any watermark of the partition covered that this process has ever known. Errors: as `of`.
  Result<std::optional<MergedWatermark>> promised(PartitionId partition) const;
  void promise(PartitionId partition, const std::optional<MergedWatermark>& watermark);
  // To be called before the servers are asked; `hear` takes the turn. A partition whose server did not answer keeps
  // what was heard before; one whose watermark is corrupt says so.
  uint64_t begin_hearing();
  void hear(uint64_t turn, All all);
  // This process has written the watermark.
  void note(PartitionId partition, const MergedWatermark& watermark);
  // A shard of the partition has no more than this: the store went back. Holds until the watermark of the partition
  // is written again.
  void lower(PartitionId partition, const std::optional<MergedWatermark>& mark);
  void fail(Status status);

 private:
  struct Lowered {
    std::optional<MergedWatermark> found;    // The watermark of the partition that went with it.
    std::optional<MergedWatermark> instead;
  };
  void raise(PartitionId partition, const std::optional<MergedWatermark>& watermark);

  mutable std::mutex mutex_;
  Status unheard_ = retry("the filter store was not read yet");
  All all_;
  uint64_t turn_ = 0;                        // The last one that has begun.
  std::map<PartitionId, uint64_t> news_of_;  // The turn of what all_ has of the partition.
  std::map<PartitionId, Lowered> lowered_;
  std::map<PartitionId, MergedWatermark> promised_;
};

// The writers with which this process has taken partitions over. A state of an earlier writer is older than that: a
// server has lost it, or was replaced and does not know it yet.
class TakenPartitions {
 public:
  void take(PartitionId partition, const RedisWriter& writer);
  bool is_older(PartitionId partition, const std::optional<ShardState>& state) const;

 private:
  mutable std::mutex mutex_;
  std::map<PartitionId, RedisWriter> taken_;
};

// Why no value may be written now: a server's clock is wrong, and would remove it.
class RedisWriteBar {
 public:
  Status why() const;
  // ok lifts it.
  void set(Status why);

 private:
  mutable std::mutex mutex_;
  Status why_;
};

struct RedisStoreParts {
  RedisStoreParts(RedisStoreConfig config_, const Calendar& calendar, const Clock& wall,
                  RedisNetwork& network_ = redis_sockets())
      : config(std::move(config_)),
        keys(config.prefix),
        life(calendar),
        clock(wall),
        network(network_),
        pace(config.write_bytes_per_second, config.partition_count),
        hedges(config.hedge_percent) {}

  const Calendar& calendar() const { return life.calendar(); }
  PartitionId partition_of(ShardId shard) const;
  std::string label(ShardId shard) const { return "shard " + std::to_string(shard.value); }
  std::string label(PartitionId partition) const { return "partition " + std::to_string(partition.value); }
  std::vector<ShardId> shards_of(PartitionId partition) const;
  std::string encode(const ShardState& state, ShardId shard) const;
  // Nothing for a state that does not exist: no bytes.
  Result<std::optional<ShardState>> decode(std::string_view bytes, ShardId shard) const;
  Result<std::optional<MergedWatermark>> decode_mark(const RedisReply& reply, PartitionId partition) const;
  // "filter store bloomring: on 127.0.0.1:6379".
  std::string name() const;
  int64_t steady_ns() const { return network.clock().steady_ns(); }

  const RedisStoreConfig config;
  const RedisKeys keys;
  const FilterLife life;
  ExpiryClock clock;
  RedisNetwork& network;  // Its clock is for durations on the network, whatever `clock` is.
  HeardWatermarks heard;
  TakenPartitions taken;
  RedisWriteBar bar;
  RedisPace pace;  // Of all writes of values.
  RedisHedges hedges;

  RedisCounters traffic;
  std::atomic<uint64_t> updates{0};
  std::atomic<uint64_t> expired{0};
  std::atomic<uint64_t> unchanged{0};  // Unions that added nothing: not written.
  std::atomic<uint64_t> conflicts{0};  // Values that another writer changed between read and write.
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> put_aside{0};
  std::atomic<uint64_t> behind{0};  // Reads of a shard that is older than its watermark.
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<uint64_t> value_bytes{4096};  // The usual size of a filter, as it was written lately.
};

}  // namespace bloomring
