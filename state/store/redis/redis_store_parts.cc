#include "state/store/redis/redis_store_parts.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/words.h"
#include "schemas/store/shard_standing.h"

namespace bloomring {

std::string sha1_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  BLOOMRING_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1, "SHA-1");
  return hex({reinterpret_cast<const char*>(digest.data()), size});
}

std::string expected_of(const RedisReply& value) {
  return value.is(RedisReply::Kind::kNil) ? std::string() : sha1_hex(value.bytes);
}

std::string compare_and_set(std::string_view state_key, std::string_view state, std::string_view next_state,
                            const std::vector<RedisSet>& sets) {
  RedisCommand command(6 + 4 * sets.size());
  command.add("EVAL").add(kCompareAndSet).add(static_cast<int64_t>(sets.size() + 1)).add(state_key);
  for (const RedisSet& set : sets) command.add(set.key);
  command.add(state).add(next_state);
  for (const RedisSet& set : sets) {
    command.add(set.expected).add(set.value);
    command.add(set.expires_ms ? std::to_string(*set.expires_ms) : std::string());
  }
  return std::move(command).take();
}

std::optional<std::string> other_state(const RedisReply& reply) {
  if (reply.elements.empty()) return std::string();
  if (reply.elements[0].is(RedisReply::Kind::kInteger)) return std::nullopt;
  return reply.elements[0].bytes;
}

Status check_set(const RedisReply& reply, std::string_view key) {
  if (reply.elements.size() < 2) return retry("the reply to EVAL has another form");
  if (reply.elements[1].integer >= 0) return {};
  RedisReply error;
  error.bytes = "WRONGTYPE";
  return redis_failure(error, key);
}

RedisRequest request_at(std::string_view key, std::string commands) {
  RedisRequest request;
  request.commands = std::move(commands);
  request.slot = redis_slot(key);
  return request;
}

RedisRequest get_request(std::string_view key) {
  std::string command;
  append_redis_command(command, {"GET", key});
  return request_at(key, std::move(command));
}

Result<RedisReply> only_reply(RedisAnswer answer, std::string_view what) {
  BLOOMRING_TRY(answer.status());
  if (answer->front().error()) return redis_failure(answer->front(), what);
  return std::move(answer->front());
}

Result<std::optional<MergedWatermark>> HeardWatermarks::of(PartitionId partition) const {
  const std::lock_guard lock(mutex_);
  BLOOMRING_TRY(Status(unheard_));
  const auto at = static_cast<size_t>(partition.value);
  if (at >= all_.size()) return std::optional<MergedWatermark>();
  const auto lowered = lowered_.find(partition);
  if (lowered != lowered_.end()) return lowered->second.instead;
  return all_[at];
}

Result<std::optional<MergedWatermark>> HeardWatermarks::promised(PartitionId partition) const {
  const std::lock_guard lock(mutex_);
  BLOOMRING_TRY(Status(unheard_));
  const auto promised = promised_.find(partition);
  return promised == promised_.end() ? std::nullopt : std::optional(promised->second);
}

void HeardWatermarks::promise(PartitionId partition, const std::optional<MergedWatermark>& watermark) {
  const std::lock_guard lock(mutex_);
  raise(partition, watermark);
}

void HeardWatermarks::raise(PartitionId partition, const std::optional<MergedWatermark>& watermark) {
  if (!watermark) return;
  const auto [known, first] = promised_.try_emplace(partition, *watermark);
  if (!first) known->second = most(known->second, *watermark);
}

uint64_t HeardWatermarks::begin_hearing() {
  const std::lock_guard lock(mutex_);
  return ++turn_;
}

void HeardWatermarks::hear(uint64_t turn, All all) {
  const std::lock_guard lock(mutex_);
  if (all_.empty()) all_.resize(all.size(), retry("the watermark of the partition was not read yet"));
  BLOOMRING_CHECK(all.size() == all_.size(), "the number of partitions is fixed");
  for (size_t at = 0; at < all.size(); ++at) {
    const PartitionId partition(static_cast<int32_t>(at));
    uint64_t& news = news_of_[partition];
    const bool older = news > turn || (!all[at].ok() && all[at].code() != Code::kCorrupt);
    if (older) continue;
    news = turn;
    if (all[at].ok()) raise(partition, *all[at]);
    all_[at] = std::move(all[at]);
    const auto lowered = lowered_.find(partition);
    if (lowered != lowered_.end() && (!all_[at].ok() || *all_[at] != lowered->second.found)) lowered_.erase(lowered);
  }
  unheard_ = {};
}

// Whatever was asked for until now may be older.
void HeardWatermarks::note(PartitionId partition, const MergedWatermark& watermark) {
  const std::lock_guard lock(mutex_);
  raise(partition, watermark);
  news_of_[partition] = ++turn_;
  const auto at = static_cast<size_t>(partition.value);
  if (at >= all_.size()) return;
  lowered_.erase(partition);
  all_[at] = std::optional(watermark);
}

void HeardWatermarks::lower(PartitionId partition, const std::optional<MergedWatermark>& mark) {
  const std::lock_guard lock(mutex_);
  const auto at = static_cast<size_t>(partition.value);
  if (at >= all_.size()) return;
  if (!all_[at].ok()) return;
  const auto [lowered, first] = lowered_.try_emplace(partition, Lowered{*all_[at], mark});
  if (!first) lowered->second.instead = least(lowered->second.instead, mark);
}

void HeardWatermarks::fail(Status status) {
  const std::lock_guard lock(mutex_);
  unheard_ = std::move(status);
}

void TakenPartitions::take(PartitionId partition, const RedisWriter& writer) {
  const std::lock_guard lock(mutex_);
  RedisWriter& taken = taken_[partition];
  taken = std::max(taken, writer);
}

bool TakenPartitions::is_older(PartitionId partition, const std::optional<ShardState>& state) const {
  const std::lock_guard lock(mutex_);
  const auto taken = taken_.find(partition);
  return taken != taken_.end() && (!state || state->writer < taken->second);
}

Status RedisWriteBar::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

void RedisWriteBar::set(Status why) {
  const std::lock_guard lock(mutex_);
  why_ = std::move(why);
}

PartitionId RedisStoreParts::partition_of(ShardId shard) const {
  return bloomring::partition_of(shard, config.partition_count);
}

std::vector<ShardId> RedisStoreParts::shards_of(PartitionId partition) const {
  const uint32_t each = kShardCount / config.partition_count;
  std::vector<ShardId> shards;
  for (uint32_t i = 0; i < each; ++i)
    shards.emplace_back(static_cast<uint16_t>(static_cast<uint32_t>(partition.value) * each + i));
  return shards;
}

std::string RedisStoreParts::encode(const ShardState& state, ShardId shard) const {
  return encode_shard_state(state, label(shard), partition_of(shard), config.partition_count);
}

Result<std::optional<ShardState>> RedisStoreParts::decode(std::string_view bytes, ShardId shard) const {
  if (bytes.empty()) return std::optional<ShardState>();
  BLOOMRING_TRY_ASSIGN(ShardState state,
                       decode_shard_state(bytes, label(shard), partition_of(shard), config.partition_count));
  return std::optional(std::move(state));
}

Result<std::optional<MergedWatermark>> RedisStoreParts::decode_mark(const RedisReply& reply,
                                                                    PartitionId partition) const {
  if (reply.is(RedisReply::Kind::kNil)) return std::optional<MergedWatermark>();
  BLOOMRING_TRY_ASSIGN(MergedWatermark watermark, decode_watermark(reply.bytes, partition, config.partition_count));
  return std::optional(std::move(watermark));
}

std::string RedisStoreParts::name() const {
  return "filter store " + config.prefix + " on " + joined_addresses(config.addresses, ",");
}

}  // namespace bloomring
