#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bloomring {

namespace {
constexpr uint64_t kItemSeed = 0;
constexpr uint64_t kUserSeed = 0;
constexpr uint64_t kMultiplierSeed = 1;
}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

ItemHash item_hash(std::string_view item) { return ItemHash(hash_bytes(item, kItemSeed)); }

uint64_t user_hash(std::string_view user_key_bytes) { return hash_bytes(user_key_bytes, kUserSeed); }

ShardId shard_of(std::string_view user_key_bytes) { return shard_of_hash(user_hash(user_key_bytes)); }

PartitionId partition_of(ShardId shard, uint32_t partition_count) {
  const uint32_t shards_per_partition = kShardCount / partition_count;
  return PartitionId(static_cast<int32_t>(shard.value / shards_per_partition));
}

uint64_t user_multiplier(std::string_view user_key_bytes) { return hash_bytes(user_key_bytes, kMultiplierSeed) | 1; }

}  // namespace bloomring
