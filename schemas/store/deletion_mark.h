// A mark on a shard of a filter store: filters of its users were deleted, and their bytes may still be in table files
// (state/store/embedded/deleted_shards.h). A shard has at most one.
//
// Bytes under deletion_mark_key (schemas/store_key.h), in the pieces of schemas/pieces/bytes.h:
//   version:u8=1 since_ms:u64 sum:u64
// `since_ms` is the wall clock at the first deletion since the shard was compacted, Unix milliseconds. `sum` is XXH3 of
// everything before it, seeded with the hash of the store key.
// Errors: kCorrupt with the reason for bytes that are not a mark.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"

namespace bloomring {

std::string encode_deletion_mark(int64_t since_ms, ShardId shard);
// Its `since_ms`.
Result<int64_t> decode_deletion_mark(std::string_view bytes, ShardId shard);

}  // namespace bloomring
