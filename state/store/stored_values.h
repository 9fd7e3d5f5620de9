// The values that go into a filter store and come out of it, by its three interfaces (filter_reader.h,
// filter_writer.h, store_admin.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/user_ref.h"
#include "schemas/forgotten.h"

namespace bloomring {

// Items to be united with the filter of one user key and period. Borrows: the caller keeps key and items until the
// write has ended; a store copies what it keeps.
struct FilterUpdate {
  UserRef user;
  PeriodIndex period;
  std::span<const ItemHash> items;  // At least one.
};

// A user's new forgotten value, and the filters to remove with it: those of periods [removed_from, removed_to). Borrows
// the key as FilterUpdate does.
struct ForgottenUpdate {
  UserRef user;
  Forgotten forgotten;  // The whole value; an empty one removes the stored one.
  PeriodIndex removed_from;
  PeriodIndex removed_to;
};

// A filter as it was read. The key is the logical one (schemas/store_key.h), whatever name the value has in its
// backend: the value's checksum is bound to it, so a value that is copied to another backend stays valid.
struct StoredFilter {
  PeriodIndex period;
  std::string store_key;
  std::string value;  // Decoded by filter/filter.h; at most 3 bytes an item: 6 MB for two million.
};

// Everything that the store has of a user for the periods of a question.
struct StoredUser {
  std::vector<StoredFilter> filters;  // Those that exist, in the order of the question's periods.
  Forgotten forgotten;                // Without it, the filters also report forgotten plays as seen.
};

// Sizes and counts for metrics and inspection, since the store was opened unless said otherwise.
struct FilterStoreStats {
  uint64_t updates = 0;                 // Taken by `apply`.
  uint64_t expired_updates = 0;         // Given to `apply` for a filter that has expired: not written.
  uint64_t expired_dropped = 0;         // Filters, or parts of them, that expiry has removed.
  uint64_t refused = 0;                 // Stored parts that were not filters of their key: these keys read as corrupt.
  uint64_t bytes_written = 0;           // Keys and values handed to the store.
  uint64_t bytes_on_disk = 0;           // Now; 0 where the store cannot tell.
  uint64_t table_files = 0;             // Now; each takes a descriptor while it is open...
  uint64_t open_files_max = 0;          // ...and at most this many are open at once; 0: no such bound.
  uint64_t physical_bytes_written = 0;  // Log, flush and compaction writes; 0 where the store cannot tell.
  uint64_t ranges_erased = 0;           // By StoreAdmin::erase_deleted...
  uint64_t ranges_to_erase = 0;         // ...and still to do, now...
  std::optional<int64_t> erase_since_ms = std::nullopt;  // ...the oldest of them since then.
};

}  // namespace bloomring
