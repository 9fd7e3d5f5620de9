#include "state/store/redis/redis_fence.h"

#include <algorithm>
#include <utility>

#include "schemas/store/shard_standing.h"

namespace bloomring {

namespace {

constexpr int kTurnsMax = 64;  // Of a take-over that others disturb.
constexpr int64_t kTakeOverMs = 10'000;

RedisRequest get(const std::string& key) {
  RedisRequest request = get_request(key);
  request.timeout_ms = kTakeOverMs;
  return request;
}

RedisRequest set_under(const std::string& state_key, std::string_view state, const std::vector<RedisSet>& sets,
                       std::string_view next_state = "") {
  RedisRequest request = request_at(state_key, compare_and_set(state_key, state, next_state, sets));
  request.timeout_ms = kTakeOverMs;
  return request;
}

}  // namespace

Result<std::unique_ptr<RedisFence>> RedisFence::take_over(RedisStoreParts& parts, RedisClient& client,
                                                          PartitionId partition) {
  std::unique_ptr<RedisFence> fence(new RedisFence(parts, partition));
  const std::string context = parts.name() + ": " + parts.label(partition) + " cannot be taken over";
  for (int turn = 0;; ++turn) {
    BLOOMRING_TRY(fence->take_partition(client).with_context(context));
    Status taken = fence->take_shards(client);
    if (taken.ok()) break;
    // A later writer in a shard, but not in the partition: the server of the latter has lost writes.
    if (taken.code() == Code::kFenced && turn < kTurnsMax) {
      BLOOMRING_TRY_ASSIGN(const bool still, fence->still_owner(client));
      if (still) continue;
    }
    return std::move(taken).with_context(context);
  }
  BLOOMRING_TRY(fence->settle_watermark(client).with_context(context));
  parts.taken.take(partition, fence->writer_);
  return fence;
}

Status RedisFence::take_partition(RedisClient& client) {
  const std::string key = parts_.keys.owner(partition_);
  const std::string label = parts_.label(partition_);
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    BLOOMRING_TRY_ASSIGN(const RedisReply now, only_reply(client.call(get(key)), "GET " + key));
    uint64_t epoch = epoch_seen_;
    if (!now.is(RedisReply::Kind::kNil)) {
      BLOOMRING_TRY_ASSIGN(const ShardState owner,
                           decode_shard_state(now.bytes, label, partition_, parts_.config.partition_count));
      epoch = std::max(epoch, owner.writer.epoch);
    }
    writer_ = {epoch + 1, parts_.network.random_number()};
    owner_ = {writer_, {}, 0};
    const std::string owner = encode(owner_);
    BLOOMRING_TRY_ASSIGN(
        const RedisReply set,
        only_reply(client.call(set_under(key, now.bytes, {{key, std::string(kAnyValue), owner}})), "EVAL"));
    const auto found = other_state(set);
    if (!found || *found == owner) return {};
  }
  return retry("others take it over at the same time");
}

Result<bool> RedisFence::still_owner(RedisClient& client) const {
  const std::string key = parts_.keys.owner(partition_);
  BLOOMRING_TRY_ASSIGN(const RedisReply now, only_reply(client.call(get(key)), "GET " + key));
  return now.bytes == encode(owner_);
}

Status RedisFence::take_shards(RedisClient& client) {
  std::vector<ShardId> left = parts_.shards_of(partition_);
  std::map<ShardId, std::string> bytes;
  std::vector<RedisRequest> requests;
  for (const ShardId shard : left) requests.push_back(get(parts_.keys.shard_state(shard)));
  std::vector<RedisAnswer> answers = client.call_all(std::move(requests));
  for (size_t i = 0; i < left.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(const RedisReply now,
                         only_reply(std::move(answers[i]), "GET " + parts_.keys.shard_state(left[i])));
    bytes[left[i]] = now.bytes;
  }
  for (int turn = 0; turn < kTurnsMax && !left.empty(); ++turn) {
    requests.clear();
    for (const ShardId shard : left) {
      BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts_.decode(bytes[shard], shard));
      if (state && state->writer > writer_) {
        epoch_seen_ = state->writer.epoch;
        return fenced("another writer has taken it over meanwhile");
      }
      states_[shard] = {writer_, state ? state->mark : std::nullopt, state ? state->writes : 0};
      const std::string key = parts_.keys.shard_state(shard);
      const RedisSet set{key, std::string(kAnyValue), parts_.encode(states_[shard], shard)};
      requests.push_back(set_under(key, bytes[shard], {set}));
    }
    answers = client.call_all(std::move(requests));
    std::vector<ShardId> changed;
    for (size_t i = 0; i < left.size(); ++i) {
      BLOOMRING_TRY_ASSIGN(const RedisReply set, only_reply(std::move(answers[i]), "EVAL"));
      auto found = other_state(set);
      if (!found) continue;
      if (*found == parts_.encode(states_[left[i]], left[i])) continue;  // Its answer was lost on the way.
      bytes[left[i]] = std::move(*found);
      changed.push_back(left[i]);
    }
    left = std::move(changed);
  }
  return left.empty() ? Status() : retry("its shards keep changing");
}

Status RedisFence::settle_watermark(RedisClient& client) {
  const std::string key = parts_.keys.watermark(partition_);
  BLOOMRING_TRY_ASSIGN(const RedisReply now, only_reply(client.call(get(key)), "GET " + key));
  BLOOMRING_TRY_ASSIGN(const std::optional<MergedWatermark> stored, parts_.decode_mark(now, partition_));
  std::optional<MergedWatermark> all = stored;
  for (const auto& [shard, state] : states_) all = least(all, state.mark);
  if (all == stored) return {};
  const std::string value = all ? encode_watermark(*all, partition_, parts_.config.partition_count) : std::string();
  for (int turn = 0; turn < kTurnsMax; ++turn) {
    const std::vector<RedisSet> sets{{key, std::string(kAnyValue), value}};
    BLOOMRING_TRY_ASSIGN(
        const RedisReply set,
        only_reply(client.call(set_under(parts_.keys.owner(partition_), owner(), sets, next_owner())), "EVAL"));
    const auto found = other_state(set);
    if (found) {
      BLOOMRING_TRY(found_owner(*found));
      continue;
    }
    BLOOMRING_TRY(check_set(set, key));
    wrote_owner();
    return {};
  }
  return retry("its owner keeps changing");
}

std::string RedisFence::known(ShardId shard) const {
  const std::lock_guard lock(mutex_);
  return parts_.encode(states_.at(shard), shard);
}

std::string RedisFence::next(ShardId shard) const {
  const std::lock_guard lock(mutex_);
  ShardState state = states_.at(shard);
  ++state.writes;
  return parts_.encode(state, shard);
}

std::string RedisFence::next_with(ShardId shard, const MergedWatermark& mark) const {
  const std::lock_guard lock(mutex_);
  return parts_.encode({writer_, mark, states_.at(shard).writes + 1}, shard);
}

void RedisFence::wrote(ShardId shard, const std::optional<MergedWatermark>& mark) {
  const std::lock_guard lock(mutex_);
  ShardState& state = states_.at(shard);
  ++state.writes;
  if (mark) state.mark = mark;
}

Status RedisFence::found(ShardId shard, const std::string& bytes) {
  BLOOMRING_TRY_ASSIGN(const std::optional<ShardState> state, parts_.decode(bytes, shard));
  const std::lock_guard lock(mutex_);
  ShardState& known = states_.at(shard);
  switch (judge_shard(state, known)) {
    case ShardStanding::kOurs: known = *state; return {};
    case ShardStanding::kTaken:
      return fenced(parts_.label(partition_) + " of the filter store has another writer");
    case ShardStanding::kWentBack: break;
  }
  return fatal("the filter store went back: " + parts_.label(shard) + " of " + parts_.label(partition_) +
               " has lost writes, as after a failover to a replica that was behind. The next start merges them again");
}

std::string RedisFence::encode(const ShardState& owner) const {
  return encode_shard_state(owner, parts_.label(partition_), partition_, parts_.config.partition_count);
}

std::string RedisFence::owner() const {
  const std::lock_guard lock(mutex_);
  return encode(owner_);
}

std::string RedisFence::next_owner() const {
  const std::lock_guard lock(mutex_);
  return encode({owner_.writer, {}, owner_.writes + 1});
}

void RedisFence::wrote_owner() {
  const std::lock_guard lock(mutex_);
  ++owner_.writes;
}

Status RedisFence::found_owner(const std::string& bytes) {
  std::optional<ShardState> found;
  if (!bytes.empty()) {
    BLOOMRING_TRY_ASSIGN(found, decode_shard_state(bytes, parts_.label(partition_), partition_,
                                                   parts_.config.partition_count));
  }
  const std::lock_guard lock(mutex_);
  switch (judge_shard(found, owner_)) {
    case ShardStanding::kOurs: owner_ = *found; return {};
    case ShardStanding::kTaken:
      return fenced(parts_.label(partition_) + " of the filter store has another writer");
    case ShardStanding::kWentBack: break;
  }
  return fatal("the filter store went back: the server that has the watermark of " + parts_.label(partition_) +
               " has lost writes, as after a failover to a replica that was behind. The next start merges them again");
}

}  // namespace bloomring
