// The status of stages, rings and stores as JSON, the same on the admin port and from `bloomring inspect`.
//
//   {"stages":[{"stage":"serve","address":"127.0.0.1:7700","numbers":{"recent_plays":12},"partitions":[{"topic":
//   "user-events","partition":0,"applied":100,"committed":90,"log_end":100,"behind_seconds":0}]}]}
//
// Of the window stage each partition has a "ring" besides, of the merge stage the stage has a "store". Values that are
// not known are left out, but for "merged_offset", which is null before anything is merged.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipeline/status/ring_status.h"
#include "pipeline/status/stage_status.h"
#include "pipeline/status/store_status.h"

namespace bloomring {

std::string to_json(const std::vector<StageStatus>& stages);  // A line.

// {"merged_offset":90,"applied_offset":100,"slot_states":["filling","free","sealed"],"staged":[{"slot":2,"start_ms":0,
// "state":"sealed","from":90,"to":95,"events":50,"bytes":1200}]}. `staged` is what the slots hold, oldest first: a slot
// that was joined is there more than once. Of a ring without local state only the first field.
nlohmann::ordered_json to_json(const RingStatus& ring);

// {"path":"/var/lib/bloomring/store","bytes_on_disk":1000,"unreadable":0,"periods":[{"period":"2026-11","filters":1,
// "bytes":100}]}, the last two where the store was read through.
nlohmann::ordered_json to_json(const StoreStatus& store);

}  // namespace bloomring
