// A look at the filter store of an installation, for `bloomring check`: the findings of a process that would open it.
// Changes nothing, also while other processes write the store.
//
// Errors: `refused` is kInvalid for a store of another configuration and for servers that cannot have one, kRetry for
// servers that do not answer, kCorrupt for damage.
// Threading: one thread; waits for the store.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "pipeline/settings/settings.h"
#include "state/store/store_admin.h"

namespace bloomring {

struct StoreProbe {
  bool made = true;         // False: its place is in order, and the merge stage has yet to make the store there.
  Status refused;           // Not ok: a process would not start with this store.
  FilterStoreStats stats;   // Of a store that is not refused.
  ServerFindings servers;   // Of servers that would have the store, or have it.
  pid_t writer = 0;         // The process on this machine that keeps other writers out; 0 where none does.
};

StoreProbe probe_store(const Settings& settings);

}  // namespace bloomring
