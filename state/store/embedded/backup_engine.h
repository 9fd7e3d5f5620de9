// Takes a backup of an open database. Included by sources of this folder only.
#pragma once

#include "base/result.h"
#include "state/rocksdb/rocks.h"
#include "state/store/store_admin.h"

namespace bloomring {

Result<StoreBackup> take_backup(rocksdb::DB& db, const StoreBackupConfig& config);

}  // namespace bloomring
