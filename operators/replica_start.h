// Where a serve replica starts to read a partition: a pure decision from facts.
//
//   the log                       decision
//   has the watermark             recent plays from the watermark, serves from the first record that is young enough
//   starts beyond the watermark   the same from the log's start; answers have a gap until the watermark has passed it:
//                                 the window stage may hold the records between, which are in no filter and no log
//   ends before what is merged    refuse: it is another topic, or was cut
//
// No watermark counts as one at offset 0.
#pragma once

#include <optional>

#include "operators/log_facts.h"

namespace bloomring {

struct ReplicaStartFacts {
  LogFacts log;
  std::optional<Offset> young;  // The first record that may hold recent serves; absent: the log has none.
};

struct ReplicaStart {
  Offset merged;         // Recent plays begin here...
  // ...in this hour or later: merged plays were logged before it. For hours merged beyond a gap this holds only if the
  // merge stage's clock was not behind them, because merged log time is never ahead of that clock.
  HourIndex first_hour;
  Offset read_from;      // Serves begin here.
  Offset lost_below;     // Answers have a gap until the watermark is here.
};

// kRetry where the table says refuse (operators/log_facts.h).
Result<ReplicaStart> decide_replica_start(const ReplicaStartFacts& facts);

// The log time of the first record that may hold serves of the last `age_max_ms`. Hours up to the watermark's have
// passed, so their end is the log's time; this machine's clock counts only where it is earlier.
int64_t served_since_ms(const std::optional<MergedWatermark>& watermark, int64_t slot_ms, int64_t wall_ms,
                        int64_t age_max_ms);

}  // namespace bloomring
