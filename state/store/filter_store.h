// The filter store: holds filters and merged watermarks; a disk KV behind one interface.
//
// Guarantees: `advance` makes everything that was applied before it durable, then writes the watermark, then makes the
// watermark durable. So the store holds everything that a readable watermark covers. A `read` sees at least everything
// that the last watermark returned by `read_watermark` of the same instance covers. It never returns expired filters;
// wall clock and merged log time together decide which have expired (state/merged_time.h).
// Errors: kBadRecord for an update that can have no key (invalid user key or period, no items), kRetry when the store
// is not reachable or stalls, kCorrupt for bytes that are not ours, kFatal when the store cannot continue (disk full,
// lock lost). After a failed `apply` the caller may apply the same updates again: filters are united, and forgotten
// values are written as a whole.
// Threading: thread safe; two threads never write the same partition.
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

// A user's new forgotten value, and the filters to remove with it: those of periods [removed_from, removed_to). Borrows
// the key as FilterUpdate does.
struct ForgottenUpdate {
  std::string_view user_key;  // UserKey bytes.
  Forgotten forgotten;        // The whole value; an empty one removes the stored one.
  PeriodIndex removed_from;
  PeriodIndex removed_to;
};

// A filter as it was read.
struct StoredFilter {
  PeriodIndex period;
  std::string store_key;  // The value's checksum is bound to it.
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
  uint64_t table_files = 0;             // Now; each takes a descriptor while it is open...
  uint64_t open_files_max = 0;          // ...and at most this many are open at once; 0: no such bound.
  uint64_t physical_bytes_written = 0;  // Log, flush and compaction writes; 0 where the store cannot tell.
};

class FilterStore {
 public:
  virtual ~FilterStore() = default;

  // Removes filters and writes forgotten values, then unites each update with the stored filter. A failure or a crash
  // in the middle leaves the changes made so far, in this order. Not durable before `sync` or `advance`.
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
  // Appends the filters of the user key that exist for these periods, in the order of `periods`, and sets `forgotten`:
  // without it, the filters also report forgotten plays as seen.
  virtual Status read(std::string_view user_key, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out,
                      Forgotten& forgotten) = 0;
  // The filters alone, for inspection.
  Status read(std::string_view user_key, std::span<const PeriodIndex> periods, std::vector<StoredFilter>& out) {
    Forgotten forgotten;
    return read(user_key, periods, out, forgotten);
  }
  // Appends the forgotten value of each user, for callers that write it back. Of a value that cannot be read it gives
  // the good part and its damage, where `read` gives kCorrupt.
  virtual Status read_forgotten(std::span<const std::string_view> user_keys, std::vector<Forgotten>& out) = 0;
  // Catches up with the writes of other processes (followers of an embedded store); a no-op elsewhere.
  virtual Status refresh() = 0;

  // Calls `visit` for every filter in key order until it returns false; for inspection. `visit` calls no store.
  virtual Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) = 0;
  // The scenes with any stored data (state/store/stored_scenes.h): at least those that `read` could find at the call. A
  // few reads for each shard and scene. kInvalid from a store that cannot tell.
  virtual Result<std::set<std::string>> scenes() const { return invalid("this filter store lists no scenes"); }
  virtual FilterStoreStats stats() const = 0;
};

}  // namespace bloomring
