// The hashes of bloomring. Algorithms and seeds are part of the stored formats (docs/formats.md): changing one is a new
// format version. All are one-shot XXH3 64-bit hashes (xxHash 0.8.1; stable since 0.8.0, endian-independent).
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace bloomring {

// Users are hashed into this many shards. A partition is a contiguous range of shards, so P divides it.
inline constexpr uint32_t kShardCount = 5000;

// XXH3_64bits(item bytes, seed 0).
ItemHash item_hash(std::string_view item);
// The same for many items that lie end to end: hashes[i] covers the next lengths[i] bytes. The lengths add up to
// `items`; `hashes` has room for one hash per length. Takes half the time of single calls.
void item_hashes(std::string_view items, std::string_view lengths, ItemHash* hashes);

// XXH3_64bits(UserKey bytes, seed 0): decides the user's shard.
uint64_t user_hash(std::string_view user_key_bytes);

// user_hash mod kShardCount.
ShardId shard_of(std::string_view user_key_bytes);
inline ShardId shard_of_hash(uint64_t user_hash) { return ShardId(static_cast<uint16_t>(user_hash % kShardCount)); }

// The partition that holds the shard: shards [p * 5000/P, (p+1) * 5000/P). `partition_count` divides kShardCount.
PartitionId partition_of(ShardId shard, uint32_t partition_count);

// XXH3_64bits(UserKey bytes, seed 1) | 1: the odd factor that makes the same item collide differently for each user.
uint64_t user_multiplier(std::string_view user_key_bytes);

// Plain XXH3_64bits with a seed, for checksums.
uint64_t hash_bytes(std::string_view bytes, uint64_t seed);

}  // namespace bloomring
