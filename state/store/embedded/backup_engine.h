// Takes a backup of an open database. Included by sources of this folder only.
#pragma once

#include "state/rocksdb/rocks.h"
#include "state/store/embedded/store_backup.h"

namespace bloomring {

Result<StoreBackup> take_backup(rocksdb::DB& db, const StoreBackupConfig& config);

}  // namespace bloomring
