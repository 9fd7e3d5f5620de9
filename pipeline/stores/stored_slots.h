// Compares the configured slot length with all that is stored, before a stage begins: a partition that began with
// another length would keep the process from going back, and the others from going on.
//
// Errors: kInvalid with both lengths and the way out.
// Threading: one thread; waits for the store.
#pragma once

#include "base/result.h"
#include "pipeline/settings/settings.h"
#include "state/store/filter_reader.h"

namespace bloomring {

// The merged watermarks; and, where nothing is merged and this process has the window stage, its local states. A
// watermark that cannot be read is left to the stage, which asks again. `reader` is null where no store is yet.
Status check_stored_slots(const Settings& settings, FilterReader* reader);

}  // namespace bloomring
