// The secret of a filter store under which the window stage sums its slot ends, and by which the merge stage knows that
// they are the window stage's (docs/decisions/0047-slot-ends-have-a-keyed-sum.md). Both have the store already; nobody
// who only writes to Kafka has it.
//
// Bytes under kSlotEndKeyKey (schemas/store_key.h), in the pieces of schemas/pieces/bytes.h:
//   version:u8=1 low:u64 high:u64 sum:u64
// `sum` is XXH3 of everything before it, seeded with the hash of the store key.
// Errors: kCorrupt with the reason for bytes that are not a key.
// Threading: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/keyed_sum.h"
#include "base/result.h"

namespace bloomring {

std::string encode_slot_end_key(const SumKey& key);
Result<SumKey> decode_slot_end_key(std::string_view bytes);

}  // namespace bloomring
