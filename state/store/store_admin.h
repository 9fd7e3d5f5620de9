// Administration of a filter store, for tools and metrics. One of its three interfaces (reading: filter_reader.h;
// writing: filter_writer.h). Every function may take as long as reading the store does.
//
// Errors: as filter_reader.h; kInvalid for something that this kind of store cannot do.
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "schemas/store_key.h"
#include "schemas/watermark.h"
#include "state/store/server_findings.h"
#include "state/store/store_import.h"
#include "state/store/stored_values.h"

namespace bloomring {

struct StoreBackupConfig {
  std::string folder;  // Made when it does not exist. Use another disk than the store's, to survive its loss.
  uint32_t kept = 24;  // Older backups are removed, but for daily ones; at least 1.
  uint64_t bytes_per_second = 0;  // Of copying; 0: no bound.
};

struct StoreBackup {
  uint32_t id = 0;  // Ascending; never used twice in a folder.
  int64_t time_ms = 0;
  uint64_t bytes = 0;      // Of its files, shared ones included.
  uint64_t bytes_new = 0;  // Copied for it; set only by `back_up`.
  uint32_t files = 0;
  bool operator==(const StoreBackup&) const = default;
};

// The findings of a check of every row of a store.
struct StoreCheck {
  uint64_t filters = 0;
  uint64_t filter_bytes = 0;
  uint64_t items = 0;
  uint64_t damaged = 0;              // Rows that differ from the written ones, or are not ours.
  std::vector<std::string> damages;  // The faults of the first kDamagesMax of them.
  std::map<PartitionId, MergedWatermark> watermarks;
  static constexpr size_t kDamagesMax = 20;
  bool sound() const { return damaged == 0; }

  // Counts the row as damaged unless its check is ok.
  void note_row(const Status& checked);
  // Counts the filter under the logical key. kCorrupt for a damaged one.
  Status check_filter(std::string_view store_key, std::string_view value);
};
// A user's value as it is stored, under its logical key. False ends the walk.
using StoredVisit = std::function<Result<bool>(std::string_view store_key, std::string_view value)>;

using StoreCheckProgress = std::function<void(const StoreCheck&)>;  // About every 100,000 rows.

class StoreAdmin {
 public:
  virtual ~StoreAdmin() = default;

  // Calls `visit` for every filter, each once, in any order, until it returns false. `visit` calls no store.
  virtual Status scan(const std::function<bool(const StoredFilter&, std::string_view user_key)>& visit) = 0;
  // Calls `visit` for every value of the kind that is there during the whole call, each once, in any order, damaged and
  // expired ones too. Reads no value for whose key `wanted` is false. Neither calls the store.
  virtual Status walk(ValueKind kind, const std::function<bool(std::string_view store_key)>& wanted,
                      const StoredVisit& visit) {
    static_cast<void>(kind), static_cast<void>(wanted), static_cast<void>(visit);
    return invalid("this filter store cannot be exported");
  }
  // A number that changes when the store takes another log, and whenever it may have gone back: a walk that lies
  // between two equal numbers has missed nothing that was there before it.
  virtual Result<uint64_t> generation() { return invalid("this filter store cannot be exported"); }
  // ok when the store has everything that these watermarks cover; kRetry when it has lost some of it.
  virtual Status check_holds(const Watermarks& watermarks) {
    static_cast<void>(watermarks);
    return {};
  }
  // Begins or resumes the import for which the store was opened. Keeps all other writers out. kInvalid when there are
  // values or watermarks in the store that are not of this import.
  virtual Result<std::unique_ptr<StoreImport>> begin_import(const Watermarks& watermarks) {
    static_cast<void>(watermarks);
    return invalid("this filter store was not opened for an import");
  }
  virtual FilterStoreStats stats() const = 0;
  // False before the merge stage has made the store. Needs no `refresh`.
  virtual Result<bool> is_made() { return true; }
  // Looks at the settings of the servers that the store is on. Needs no `refresh`; kRetry when none answers.
  virtual Result<ServerFindings> check_servers() { return ServerFindings(); }
  // Reads everything: checksums, each filter decoded, watermarks, the description. Others may write meanwhile. Needs no
  // `refresh`.
  virtual Result<StoreCheck> check(const StoreCheckProgress&) { return invalid("this filter store cannot be checked"); }
  // Takes a backup while others write. Blocks until it is complete; one at a time for each folder.
  virtual Result<StoreBackup> back_up(const StoreBackupConfig&) {
    return invalid("this filter store takes no backups");
  }
  // Removes from the store's files the bytes of filters that were deleted at `until_ms` (wall clock) or before: of one
  // range of keys a call. True when there was one; call it again. Others may read and write meanwhile.
  virtual Result<bool> erase_deleted(int64_t until_ms) {
    static_cast<void>(until_ms);
    return false;
  }
  // When the oldest deletion in the shard was whose bytes may still be in the store's files; nothing without one.
  virtual Result<std::optional<int64_t>> deleted_since_ms(ShardId shard) {
    static_cast<void>(shard);
    return std::optional<int64_t>();
  }
  // Removes the backups of the folder that were taken before `before_ms`, except the newest one; how many.
  virtual Result<size_t> remove_backups(const std::string& folder, int64_t before_ms) {
    static_cast<void>(folder), static_cast<void>(before_ms);
    return size_t{0};
  }
  // Replaces the watermarks of all partitions by those of a new log (of_new_log), durably; filters stay.
  virtual Status begin_new_log() { return invalid("this filter store is open for reading alone"); }
};

}  // namespace bloomring
