// Looks up whether a user has forgotten items: in the snapshot of the service, and in the filter store where this
// machine can read it (pipeline/shadow/forgotten_items.h).
// Errors: those of the service. A filter store that cannot be read is said once, in the log, and left out.
// Threading: one thread. Waits.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "client/client.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stores/open_stores.h"
#include "state/period.h"

namespace bloomring::cli {

class ForgetLookup {
 public:
  // All outlive it.
  ForgetLookup(const Settings& settings, const Calendar& calendar, const Clock& clock, Client& client);

  // As ShadowParts::forgotten.
  Result<std::vector<bool>> ask(const FilterCall& call, const std::vector<int64_t>& times_ms);

 private:
  Status open_store();

  const Settings& settings_;
  const Calendar& calendar_;
  const Clock& clock_;
  Client& client_;
  const StateMemory memory_;
  FilterStores stores_;
  bool readable_ = false;
};

}  // namespace bloomring::cli
