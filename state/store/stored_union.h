// The union of the values under one filter key, some of which may be damaged.
//
// A merge operator that fails would stop every compaction of the store for one bad key. So a union never fails. It
// refuses and counts values that are not filters of this key, and unites the good ones. With any refused value the
// result is a damaged value (schemas/damaged_value.h), which reads as corrupt, with the reason, until it is repaired or
// removed.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "filter/filter.h"
#include "schemas/damaged_value.h"

namespace bloomring {

struct StoredUnion {
  std::string value;     // A filter, or a damaged value.
  uint64_t refused = 0;  // Number of values that this union refused.
};

// The union to store. `values` holds one or more filters, operands or damaged values of the key.
StoredUnion unite_stored(std::span<const std::string_view> values, std::string_view store_key,
                         const filter::Policy& policy, bool closed);
// The union of operands without their stored value.
StoredUnion unite_stored_operands(std::span<const std::string_view> values, std::string_view store_key);

}  // namespace bloomring
