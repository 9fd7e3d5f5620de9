// Up to when a forget by call reaches (docs/decisions/0028-a-replica-reads-between-two-clocks.md).
//
// It covers all that the replica knew of when the call came, also what another clock has stamped. Beyond that it
// reaches to now and no further, or it would take plays that come after it: to the earlier one of the machine's time
// and the log's, until the log itself has told, with the acknowledgement of this very call, what time it is. So what
// is served or played after the call counts again: at once, unless something that the forget covers was stamped ahead
// of the brokers' clocks, and then when these are past it.
#pragma once

#include <cstdint>
#include <optional>

#include "serving/query/candidate_filter.h"

namespace bloomring {

// How far a forget may end before the time of its call.
inline constexpr int64_t kForgetShortMaxMs = 100;

// `item`: nothing for everything. `log_told_ms`: the log's time, as the latest append of this call
// has told it.
int64_t forget_time_ms(const CandidateFilter& core, const HeldPartition& partition, uint64_t user_hash,
                       std::optional<ItemHash> item, std::optional<int64_t> log_told_ms);

// It was logged in a later slot than it happened: merge may take it for a late one.
inline bool is_late_forget(int64_t time_ms, int64_t log_time_ms, int64_t slot_ms) {
  return log_time_ms / slot_ms > time_ms / slot_ms;
}
// It ends before the call began, by the log's time.
inline bool is_short_forget(int64_t time_ms, int64_t log_time_ms, int64_t append_took_ms) {
  return log_time_ms - append_took_ms > time_ms + kForgetShortMaxMs;
}

}  // namespace bloomring
