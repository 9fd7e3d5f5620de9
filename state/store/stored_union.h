// The union of what lies under one filter key, where some of it may be damaged.
//
// A merge operator that fails would stop every compaction of the store for one bad key. So a union never fails: what
// is not a filter of this key is refused and counted, what is good is united, and where anything was refused the result
// is a damaged value (schemas/damaged_value.h), which reads as corrupt, with the reason, until somebody repairs or
// removes it.
// Thread safety: pure functions.
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
  uint64_t refused = 0;  // How many of the values were refused by this union.
};

// The union that is stored. `values` holds one or more filters, operands or damaged values of the key.
StoredUnion unite_stored(std::span<const std::string_view> values, std::string_view store_key,
                         const filter::Policy& policy, bool closed);
// The union of operands whose stored value is not at hand.
StoredUnion unite_stored_operands(std::span<const std::string_view> values, std::string_view store_key);

}  // namespace bloomring
