// The time up to which a forget by call reaches (docs/decisions/0028-a-replica-reads-between-two-clocks.md).
//
// - The forget covers all that the replica knew of when the call came, also items stamped by another clock.
// - Beyond that it reaches to the current time and no further, or it would cover later plays. Until the
//   acknowledgement of this call's append has reported the log's time, the current time is the earlier of the
//   machine's time and the log's.
// - So serves and plays after the call count again: at once, or, if the forget covers an item that was stamped ahead
//   of the brokers' clocks, when these clocks are past that stamp.
#pragma once

#include <cstdint>
#include <optional>

#include "serving/query/candidate_filter.h"

namespace bloomring {

// A forget may end this much before the time of its call.
inline constexpr int64_t kForgetShortMaxMs = 100;

// `item`: nothing for everything. `log_told_ms`: the log's time, as reported by the latest append of this call.
int64_t forget_time_ms(const CandidateFilter& core, const ReplicaPartition& partition, uint64_t user_hash,
                       std::optional<ItemHash> item, std::optional<int64_t> log_told_ms);

// True when it ends, by the log's time, more than kForgetShortMaxMs before the call began.
inline bool is_short_forget(int64_t time_ms, int64_t log_time_ms, int64_t append_took_ms) {
  return log_time_ms - append_took_ms > time_ms + kForgetShortMaxMs;
}

}  // namespace bloomring
