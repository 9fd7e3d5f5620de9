// A value of the filter store of which a part could not be read. Its good part is kept and takes further changes; the
// value reads as corrupt, with the reason, until it is repaired or removed.
//
//   damaged := 0x00 refused:varint reason:bytes good:raw
//
// No filter (filter/format.h) and no forgotten value (schemas/forgotten.h) begins with 0x00. `good` is one of these, or
// empty when no part was good. The form has no checksum of its own: RocksDB's blocks have one, and so has `good`.
// Threading: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

struct Damage {
  uint64_t refused = 0;  // Values, or parts of one, that were left out...
  uint64_t fresh = 0;    // ...of these since the value was read.
  std::string reason;    // Of the first of them; at most 200 bytes are kept.

  void note(std::string_view why);
  void note_known(uint64_t count, std::string_view why);
  bool operator==(const Damage&) const = default;
};

bool is_damaged(std::string_view value);
std::string encode_damaged(const Damage& damage, std::string_view good);
// Returns the good part of a damaged value, which may be empty, and adds the value's damage to `damage`. Bytes that
// `encode_damaged` makes of no damage, such as a count of 0, have no good part.
std::string_view open_damaged(std::string_view value, Damage& damage);

// kCorrupt, naming the key, for a damaged value; ok for any other value (which has its own checksum).
Status check_stored(std::string_view value, std::string_view store_key);

}  // namespace bloomring
