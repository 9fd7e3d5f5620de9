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

// XXH3_64bits is the hash with seed 0, without the work for the seed.
static_assert(kItemSeed == 0 && kUserSeed == 0);

ItemHash item_hash(std::string_view item) { return ItemHash(XXH3_64bits(item.data(), item.size())); }

// Flattened: the hash of a short item is a handful of multiplications, and a call for each would cost as much.
[[gnu::flatten]] void item_hashes(std::string_view items, std::string_view lengths, ItemHash* hashes) {
  const char* item = items.data();
  for (const char size : lengths) {
    const auto length = static_cast<uint8_t>(size);
    *hashes++ = ItemHash(XXH3_64bits(item, length));
    item += length;
  }
}

uint64_t user_hash(std::string_view user_key_bytes) { return hash_bytes(user_key_bytes, kUserSeed); }

ShardId shard_of(std::string_view user_key_bytes) { return shard_of_hash(user_hash(user_key_bytes)); }

PartitionId partition_of(ShardId shard, uint32_t partition_count) {
  const uint32_t shards_per_partition = kShardCount / partition_count;
  return PartitionId(static_cast<int32_t>(shard.value / shards_per_partition));
}

uint64_t user_multiplier(std::string_view user_key_bytes) { return hash_bytes(user_key_bytes, kMultiplierSeed) | 1; }

}  // namespace bloomring
