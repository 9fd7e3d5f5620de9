// Where a serve replica starts to read a partition: a pure decision from facts.
//
//   the log                       decision
//   has the watermark             recent plays from the watermark, what was served from the first record young enough
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
  std::optional<Offset> young;  // The first record that may hold what was served lately; nothing: the log has none.
};

struct ReplicaStart {
  Offset merged;         // Recent plays begin here...
  // ...in this hour or later: plays that are merged were logged before it. That holds for hours merged beyond a gap as
  // far as the clock of the merge stage was not behind them, because merged log time is never ahead of that clock.
  HourIndex first_hour;
  Offset read_from;      // What was served begins here.
  Offset lost_below;     // Answers have a gap until the watermark is here.
};

// kRetry where the table says refuse (operators/log_facts.h).
Result<ReplicaStart> decide_replica_start(const ReplicaStartFacts& facts);

// The log time of the first record that may hold what was served within `age_max_ms`. This machine's clock decides only
// where it says less than the log: hours up to the watermark's have passed.
int64_t served_since_ms(const std::optional<MergedWatermark>& watermark, int64_t slot_ms, int64_t wall_ms,
                        int64_t age_max_ms);

}  // namespace bloomring
