// Backups of an embedded filter store: a folder that holds several, each complete; they share unchanged table files.
// The process that writes the store takes them while it writes (EmbeddedFilterStore::back_up).
//
// Guarantees: a backup is a prefix of the store's writes, so it holds everything that its watermarks cover. A listed
// backup is durable; a crash never leaves a half backup in the list. `restore_backup` checks the files against their
// checksums. Plays merged after a backup are not lost: after a restore, the older watermark makes the pipeline read the
// log from there.
// Threading: one process works on a folder of backups at a time, except for listing and checking.
// Errors: kInvalid for a missing folder or number, kCorrupt for damaged files, kFatal for a disk that refuses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "state/period.h"
#include "state/rocksdb/state_memory.h"
#include "state/store/embedded/embedded_filter_store_config.h"
#include "state/store/store_admin.h"

namespace bloomring {

// Oldest first. kInvalid when the folder does not exist.
Result<std::vector<StoreBackup>> list_backups(const std::string& folder);

// The ids of those that go when only the newest `kept` (at least 1) stay, and with them the last backup of each of the
// kBackupDays latest days (UTC) that have one: however many are taken in an hour, yesterday's is still there. `backups`
// are in ascending order of their ids.
inline constexpr size_t kBackupDays = 7;
std::vector<uint32_t> backups_to_remove(const std::vector<StoreBackup>& backups, uint32_t kept);

// As StoreAdmin::remove_backups.
Result<size_t> remove_old_backups(const std::string& folder, int64_t before_ms);

// Restores the store as it was at the backup (0: the newest one) to `path`. kInvalid when `path` holds anything
// already. All or nothing: the folder appears when it is complete.
Result<StoreBackup> restore_backup(const std::string& folder, uint32_t id, const std::string& path);

// Reads everything: checksums of blocks, each filter decoded, watermarks, the description. May run while another
// process writes the store.
Result<StoreCheck> check_store(const EmbeddedFilterStoreConfig& config, const Calendar& calendar, const Clock& clock,
                               const StateMemory& memory, const StoreCheckProgress& progress = {});
// The same for a backup (0: the newest one), with the checksums of its files first.
Result<StoreCheck> check_backup(const std::string& folder, uint32_t id, const EmbeddedFilterStoreConfig& config,
                                const Calendar& calendar, const Clock& clock, const StateMemory& memory,
                                const StoreCheckProgress& progress = {});

}  // namespace bloomring
