// Ends what a filter store knows of its log, for `bloomring store new-log`: user-events was made anew, the filters
// stay.
//
// user-batches may still hold batches of the old log that the merge stage has not read. Their plays belong into
// filters, but the offsets in their slot ends would be taken for those of the new log. So, in this order:
//   1. nobody writes user-batches: the groups of the window and merge stages have no members;
//   2. what stands unread is merged under the old watermarks, and is durable (pipeline/tasks/unread_batches.h);
//   3. everything in user-batches is removed, also what was read: a group whose commit is lost reads from the start;
//   4. the watermarks begin at offset 0, where hours go on (of_new_log).
// Guarantee: no slot end of the old log is ever applied without the old watermark, and no batch is dropped. A failure
// or a crash at any point leaves a store that the same command, run again, brings to the end.
// Threading: one thread, which waits for brokers. Failure: kRetry when they do not answer or members stay, kInvalid
// when they refuse, and that of the store; what was done so far stays.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/settings/settings.h"
#include "state/period.h"
#include "state/store/embedded/embedded_filter_store.h"

namespace bloomring {

// How many offsets of user-batches, over all partitions, the merge stage has not come to. Changes nothing.
Result<uint64_t> count_unread_batches(const Settings& settings, const Clock& clock);

struct OldLogMerged {
  uint64_t records = 0;  // That stood unread.
  uint64_t plays = 0;    // United from them.
  uint64_t refused = 0;  // That were no batch records: logged.
};

Result<OldLogMerged> end_old_log(const Settings& settings, const Calendar& calendar, EmbeddedFilterStore& store,
                                 const Clock& clock);

}  // namespace bloomring
