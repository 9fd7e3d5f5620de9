// Resets the watermarks of a filter store for a new log, for `bloomring store new-log`: user-events was made again,
// the filters stay.
//
// user-batches may still hold batches of the old log that the merge stage has not read. Their plays belong in the
// filters, but the offsets in their slot ends would be taken for offsets of the new log. So, in this order:
//   1. wait until the groups of the window and merge stages have no members: then nothing writes user-batches;
//   2. merge the unread batches under the old watermarks, durably (pipeline/tasks/unread_batches.h);
//   3. delete all records of user-batches, read ones too: a group whose commit is lost reads from the start;
//   4. set the watermarks to offset 0, let their hours continue (of_new_log), and make a new key of slot ends.
// Guarantees: no slot end of the old log is ever applied without the old watermark, and no batch is dropped. After a
// failure or a crash at any point, running the command again completes it.
// Threading: one thread, which waits for brokers.
// Errors: kRetry when brokers do not answer or members stay; kInvalid when brokers refuse; those of the store.
// Completed steps stay done.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stores/open_stores.h"
#include "state/period.h"

namespace bloomring {

// The number of offsets of user-batches, over all partitions, that the merge stage has not read. Changes nothing.
Result<uint64_t> count_unread_batches(const Settings& settings, const Clock& clock);

struct OldLogCounts {
  uint64_t records = 0;  // That were unread.
  uint64_t plays = 0;    // Merged from them.
  uint64_t refused = 0;  // That were not batch records; logged.
};

// `stores` are open for writing.
Result<OldLogCounts> end_old_log(const Settings& settings, const Calendar& calendar, const FilterStores& stores,
                                 const Clock& clock);

}  // namespace bloomring
