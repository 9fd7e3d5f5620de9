// Whether the filters of the users of one slot can be written within one slot, at store.write_bytes_per_second: the
// arithmetic of `bloomring check` for a filter store on servers.
//
//   room of a slot  = store.write_bytes_per_second * ring.slot_seconds
//   needed in a slot = store.plan_users_per_slot * (store.plan_filter_bytes + kPlanKeyBytes)
//
// A merge rewrites the filter of each user who played in the slot, whole and once; plays of another period are rare.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/settings/settings.h"

namespace bloomring {

inline constexpr uint64_t kPlanKeyBytes = 64;  // Of a filter's key: the prefix, the shard, the period and a user id.

struct WritePlan {
  std::string arithmetic;  // One line; empty for a store of this machine, and where no number is set.
  bool fits = true;        // False: the line is a finding, with the way out behind "; ".
};

WritePlan plan_writes(const Settings& settings);

}  // namespace bloomring
