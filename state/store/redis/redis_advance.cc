#include "state/store/redis/redis_advance.h"

#include <utility>

namespace bloomring {

namespace {

constexpr size_t kMarksMax = 128;
constexpr size_t kWaitingMarksMax = 4;  // Each holds up its connection until replicas have answered.
constexpr int kTriesMax = 32;           // Of one watermark, while the owner of the partition keeps changing.
constexpr int64_t kWaitMs = 1'000;      // For replicas to acknowledge.

}  // namespace

RedisAdvance::RedisAdvance(RedisWriteParts parts, std::optional<MergedWatermark> watermark)
    : RedisOperation(std::move(parts)),
      watermark_(std::move(watermark)),
      waiting_(parts_.store.shards_of(parts_.fence->partition())) {}

void RedisAdvance::begin() {
  const std::lock_guard lock(mutex_);
  go_on();
}

void RedisAdvance::go_on() {
  const size_t most = parts_.store.config.min_replicas == 0 ? kMarksMax : kWaitingMarksMax;
  while (!failed() && under_way_ < most && !waiting_.empty()) {
    const ShardId shard = waiting_.back();
    waiting_.pop_back();
    mark(shard);
  }
  const bool all_marked = !failed() && under_way_ == 0;
  if (all_marked && watermark_ && !std::exchange(watermark_begun_, true)) write_watermark();
  if (under_way_ == 0) end();
}

RedisRequest RedisAdvance::with_wait(std::string commands, const std::string& key) const {
  RedisRequest request = request_at(key, std::move(commands));
  const uint32_t replicas = parts_.store.config.min_replicas;
  if (replicas == 0) return request;
  append_redis_command(request.commands, {"WAIT", std::to_string(replicas), std::to_string(kWaitMs)});
  request.replies = 2;
  return request;
}

Status RedisAdvance::check_wait(const std::vector<RedisReply>& replies, std::string_view key) const {
  for (const RedisReply& reply : replies)
    if (reply.error())
      return redis_failure(reply, (&reply == &replies.front() ? "EVAL on " : "WAIT for ") + std::string(key));
  const uint32_t wanted = parts_.store.config.min_replicas;
  if (wanted == 0 || replies.back().integer >= wanted) return {};
  return retry(std::to_string(replies.back().integer) + " of " + std::to_string(wanted) +
               " replicas (store.redis.min_replicas) have acknowledged within " + std::to_string(kWaitMs) + " ms");
}

void RedisAdvance::mark(ShardId shard) {
  const std::string key = parts_.store.keys.shard_state(shard);
  std::string value = watermark_ ? parts_.fence->next_with(shard, *watermark_) : parts_.fence->next(shard);
  send(with_wait(
           compare_and_set(key, parts_.fence->known(shard), "", {{key, std::string(kAnyValue), std::move(value)}}),
           key),
       [this, shard](RedisAnswer answer) { take_marked(shard, std::move(answer)); });
}

void RedisAdvance::take_marked(ShardId shard, RedisAnswer answer) {
  if (!answer.ok()) return fail(answer.status());
  if (!answer->front().error()) {
    if (const auto state = other_state(answer->front())) {
      Status known = parts_.fence->found(shard, *state);
      if (!known.ok()) return fail(std::move(known));
      waiting_.push_back(shard);
      return;
    }
    parts_.fence->wrote(shard, watermark_);
  }
  Status waited = check_wait(*answer, parts_.store.keys.shard_state(shard));
  if (!waited.ok()) fail(std::move(waited));
}

void RedisAdvance::write_watermark() {
  const PartitionId partition = parts_.fence->partition();
  const std::string owner_key = parts_.store.keys.owner(partition);
  const std::string value = encode_watermark(*watermark_, partition, parts_.store.config.partition_count);
  send(with_wait(compare_and_set(owner_key, parts_.fence->owner(), parts_.fence->next_owner(),
                                 {{parts_.store.keys.watermark(partition), std::string(kAnyValue), value}}),
                 owner_key),
       [this](RedisAnswer answer) { take_watermark(std::move(answer)); });
}

void RedisAdvance::take_watermark(RedisAnswer answer) {
  if (!answer.ok()) return fail(answer.status());
  if (!answer->front().error()) {
    if (const auto owner = other_state(answer->front())) {
      Status found = parts_.fence->found_owner(*owner);
      if (found.ok() && ++watermark_tries_ > kTriesMax) found = retry("the owner of the partition keeps changing");
      return found.ok() ? write_watermark() : fail(std::move(found));
    }
    Status set = check_set(answer->front(), parts_.store.keys.watermark(parts_.fence->partition()));
    if (!set.ok()) return fail(std::move(set));
    parts_.fence->wrote_owner();
  }
  Status waited = check_wait(*answer, parts_.store.keys.owner(parts_.fence->partition()));
  if (!waited.ok()) return fail(std::move(waited));
  parts_.store.clock.raise_merged_ms(watermark_->merged_ms);
  parts_.store.heard.note(parts_.fence->partition(), *watermark_);
}

}  // namespace bloomring
