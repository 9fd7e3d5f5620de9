// Opens the filter store of an installation. This is the only place that knows which kinds of stores there are: stages,
// tasks, calls and tools use the interfaces of state/store.
//
// Threading: one thread opens; the stores are as thread safe as their interfaces say.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"
#include "state/period.h"
#include "state/rocksdb/state_memory.h"
#include "state/store/embedded/embedded_filter_store.h"
#include "state/store/filter_reader.h"
#include "state/store/filter_writer.h"
#include "state/store/store_admin.h"

namespace bloomring {

// The interfaces of one opened store. Without a role all are null.
struct FilterStores {
  // Other processes may write partitions: `refresh` must succeed once before the store is used, and be called by timer.
  bool shared = false;
  std::unique_ptr<FilterReader> reader;  // Owns the store.
  FilterWriter* writer = nullptr;        // Null where the store is only read.
  StoreAdmin* admin = nullptr;
  // `admin->erase_deleted` removes bytes from this kind's files: to be called by timer where they have a deadline.
  bool erases = false;
  // Writes this kind's metrics beyond FilterStoreStats. May be empty; not to be called after the store's end.
  std::function<void(Scrape&)> write_metrics = {};
};

// The parts of a process that a store uses; all outlive it.
struct StoreParts {
  const Calendar& calendar;
  const Clock& clock;
  const StateMemory& memory;
  uint64_t import_id = 0;  // Opened for this import (state/store/store_import.h); 0: for a stage or a tool.
};

// Opens the store of the settings to write it, or to read what another process writes. A store that is read need not
// exist yet: then its functions give kRetry until a `refresh` finds it.
// Errors: those of the kind of store; kInvalid when another process writes an embedded store.
Result<FilterStores> open_stores(const Settings& settings, StoreRole role, const StoreParts& parts);

// Where the store is, for messages: "store.path is /var/lib/bloomring/store", "store.redis.addresses is a:1,b:1".
std::string describe_store_place(const Settings& settings);
// The same without the key.
std::string store_place(const Settings& settings);

// For tools that work on a store that is there: kInvalid when its folder does not exist. Of a store on servers its
// first call tells.
Status check_store_folder(const Settings& settings);
// The folder of the store's backups. kInvalid when none is set, and for a store whose servers take them.
Result<std::string> backup_folder(const Settings& settings);
// The embedded store of the settings: for tools that have its `backup_folder`, and work on its own folder.
EmbeddedFilterStoreConfig embedded_store_config(const Settings& settings);

}  // namespace bloomring
