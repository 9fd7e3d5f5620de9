// What an embedded filter store says about itself under kMetaKey (schemas/store_key.h), so that it is never opened as
// something it is not.
//
//   version:u8=1 partition_count:u32 sum:u64      (pieces of schemas/bytes.h; sum is XXH3 of what is before it, seeded
//                                                  with the hash of the key)
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

std::string encode_store_meta(uint32_t partition_count);
// kCorrupt when the bytes are not a description; kInvalid when they describe a store of another partition count or of
// a newer version, with what to do about it.
Status check_store_meta(std::string_view bytes, uint32_t partition_count);

}  // namespace bloomring
