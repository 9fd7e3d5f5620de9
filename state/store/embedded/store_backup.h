// Backups of an embedded filter store: a folder that holds several, each whole, sharing the table files that have not
// changed between them. Taken by the process that writes the store, while it writes (EmbeddedFilterStore::back_up).
//
// Guarantees: a backup is a prefix of the store's writes, so no watermark in it promises what it does not hold. It is
// durable when it is listed. A crash leaves no half backup among those that are listed. Files are checked against their
// checksums when they are restored.
// What happened after a backup is not lost: its older watermark makes the pipeline read the log from there.
// Threading: one process works on a folder of backups at a time, except for listing and checking.
// Failure: kInvalid for a folder or a number that is none, kCorrupt for damaged files, kFatal for a disk that refuses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schemas/watermark.h"
#include "state/period.h"
#include "state/rocksdb/state_memory.h"
#include "state/store/embedded/embedded_filter_store.h"

namespace bloomring {

struct StoreBackupConfig {
  std::string folder;  // Made when it does not exist. Not on the store's disk, if that one is to be survived.
  uint32_t kept = 24;  // Older backups are removed; at least 1.
  uint64_t bytes_per_second = 0;  // Of copying; 0 is as fast as it goes.
};

struct StoreBackup {
  uint32_t id = 0;  // Ascending; never used twice in a folder.
  int64_t time_ms = 0;
  uint64_t bytes = 0;      // Of its files, shared ones included.
  uint64_t bytes_new = 0;  // That were copied for it; only told by the one who takes it.
  uint32_t files = 0;
  bool operator==(const StoreBackup&) const = default;
};

// Oldest first. kInvalid when the folder does not exist.
Result<std::vector<StoreBackup>> list_backups(const std::string& folder);

// Makes `path` what the store was at the backup (0: the newest one). kInvalid when something is there already. All or
// nothing: the folder appears when everything is in it.
Result<StoreBackup> restore_backup(const std::string& folder, uint32_t id, const std::string& path);

// What a look at every row of a store found.
struct StoreCheck {
  uint64_t filters = 0;
  uint64_t filter_bytes = 0;
  uint64_t items = 0;
  uint64_t damaged = 0;              // Rows that are not what was written, or not ours.
  std::vector<std::string> damages;  // What is wrong with the first kDamagesMax of them.
  std::map<PartitionId, MergedWatermark> watermarks;
  static constexpr size_t kDamagesMax = 20;
  bool sound() const { return damaged == 0; }
};
using StoreCheckProgress = std::function<void(const StoreCheck&)>;  // About every 100,000 rows.

// Reads everything: checksums of blocks, each filter decoded, watermarks, the description. Beside the process that
// writes the store.
Result<StoreCheck> check_store(const EmbeddedFilterStoreConfig& config, const Calendar& calendar, const Clock& clock,
                               const StateMemory& memory, const StoreCheckProgress& progress = {});
// The same for a backup (0: the newest one), with the checksums of its files first.
Result<StoreCheck> check_backup(const std::string& folder, uint32_t id, const EmbeddedFilterStoreConfig& config,
                                const Calendar& calendar, const Clock& clock, const StateMemory& memory,
                                const StoreCheckProgress& progress = {});

}  // namespace bloomring
