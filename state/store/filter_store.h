// The filter store: where filters and merged watermarks live, a disk KV behind one interface.
//
// Order of durability: `advance` makes everything that was applied before it durable, then writes the watermark, then
// makes that durable. A watermark that can be read therefore never promises what the store does not hold.
// Reads: a `read` sees at least everything that the last watermark returned by `read_watermark` of the same instance
// covers. Expired filters are never returned; wall clock and merged log time together decide what has expired
// (state/merged_time.h).
// Failure: kBadRecord for an update that can have no key (invalid user key or period, no items), kRetry when the store
// is not reachable or stalls, kCorrupt for bytes that are not ours, kFatal when it cannot go on (disk full, lock lost).
// After a failed `apply` the same updates may simply be applied again: a union, and what was forgotten is written
// whole. Threading: thread safe; two threads never write the same partition.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/forgotten.h"
#include "schemas/watermark.h"

namespace bloomring {

// Items to be united with the filter of one user key and period. Borrows: the caller keeps key and items until `apply`
// has returned; a store copies what it keeps.
struct FilterUpdate {
  std::string_view user_key;  // UserKey bytes.
  PeriodIndex period;
  std::span<const ItemHash> items;  // At least one.
};

// What a user has forgotten from now on, and the filters that are removed with it: of periods [removed_from,
// removed_to). Borrows the key as FilterUpdate does.
struct ForgottenUpdate {
  std::string_view user_key;  // UserKey bytes.
  Forgotten forgotten;        // All of it; nothing is kept where it is empty.
  PeriodIndex removed_from;
  PeriodIndex removed_to;
};

// A filter as it was read.
struct StoredFilter {
  PeriodIndex period;
  std::string store_key;  // What the value's checksum is bound to.
  std::string value;      // Decoded by filter/filter.h; at most 3 bytes an item: 6 MB for two million.
};

// Sizes and counts for metrics and inspection, since the store was opened unless said otherwise.
struct FilterStoreStats {
  uint64_t updates = 0;                 // Taken by `apply`.
  uint64_t expired_updates = 0;         // Given to `apply` for a filter that has expired: not written.
  uint64_t expired_dropped = 0;         // Filters, or parts of them, that expiry has removed.
  uint64_t refused = 0;                 // Stored parts that were not filters of their key: these keys read as corrupt.
  uint64_t bytes_written = 0;           // Keys and values handed to the store.
  uint64_t bytes_on_disk = 0;           // Now; 0 where the store cannot tell.
  uint64_t table_files = 0;             // Now, each of which takes a descriptor while it is open...
  uint64_t open_files_max = 0;          // ...and how many may be open at once; 0 where there is no such thing.
  uint64_t physical_bytes_written = 0;  // Log, flush and compaction writes; 0 where the store cannot tell.
};

class FilterStore {
 public:
  virtual ~FilterStore() = default;

  // Removes filters and writes what was forgotten, then unites each update with what is stored: a failure or a crash in
  // the middle leaves what was done so far, in this order. Not durable before `sync` or `advance`.
  virtual Status apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) = 0;
  Status apply(std::span<const FilterUpdate> updates) { return apply({}, updates); }
  // Makes everything applied so far durable.
  virtual Status sync() = 0;
  // Makes everything applied so far durable, then writes the partition's watermark durably.
  virtual Status advance(PartitionId partition, const MergedWatermark& watermark) = 0;

  // Merged log time of the store (state/merged_time.h): the latest of all watermarks that are visible; nothing while
  // none has one. Never blocks.
  virtual std::optional<int64_t> merged_ms() const = 0;
  // The partition's watermark, or nothing when none was ever written.
  virtual Result<std::optional<MergedWatermark>> read_watermark(PartitionId partition) = 0;
  // Appends the filters of the user key that exist for these periods, in the order of `periods`, and sets what the user
  // has forgotten, without which the filters say too much.
  virtual Status read(std::string_view user_key, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
                      Forgotten& forgotten) = 0;
  // The filters alone, for inspection.
  Status read(std::string_view user_key, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out) {
    Forgotten forgotten;
    return read(user_key, periods, out, forgotten);
  }
  // Appends what each of the users has forgotten, for those who write it again: of a value that cannot be read, what is
  // good of it and its damage. `read` gives kCorrupt for the same value.
  virtual Status read_forgotten(std::span<const std::string_view> user_keys, std::vector<Forgotten>& out) = 0;
  // Takes up what other processes have written since (followers of an embedded store); a no-op elsewhere.
  virtual Status refresh() = 0;

  // Calls `visit` for every filter in key order until it returns false; for inspection. `visit` calls no store.
  virtual Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) = 0;
  // The scenes in which anything is stored of any user (state/store/stored_scenes.h): at least those that `read` could
  // find when it was called. A few reads for each shard and scene. kInvalid from a store that cannot tell.
  virtual Result<std::set<std::string>> scenes() const { return invalid("this filter store lists no scenes"); }
  virtual FilterStoreStats stats() const = 0;
};

}  // namespace bloomring
