// A filter store's description of itself, under kMetaKey (schemas/store_key.h). It prevents opening the store with
// another number of partitions, or with periods under whose names it has no filters (state/store/check_store_meta.h).
//
//   version:u8=2 partition_count:u32 period:u8 time_zone:bytes sum:u64
//                                                 (pieces of schemas/pieces/bytes.h; sum is XXH3 of all before it,
//                                                  seeded with the hash of the key)
// Version 1 had no period and no time zone. Version 3 is version 2 with import:u64, not 0, before the sum: a store into
// which an import has not ended yet. No stage opens it (state/store/check_store_meta.h), nor does an older program.
// Errors: kCorrupt when the bytes are not a description, kInvalid when their format is newer.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schemas/store_key.h"

namespace bloomring {

struct StoreMeta {
  uint32_t partition_count = 0;
  PeriodUnit period = PeriodUnit::kMonth;
  std::string time_zone;   // Empty: the store does not say, as in version 1.
  uint64_t import_id = 0;  // Of the export that is being imported; 0: none is.
  bool operator==(const StoreMeta&) const = default;
};

std::string encode_store_meta(const StoreMeta& meta);
Result<StoreMeta> decode_store_meta(std::string_view bytes);

}  // namespace bloomring
