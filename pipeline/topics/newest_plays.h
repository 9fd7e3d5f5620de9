// Reads the newest records of all partitions of a topic of plays, for `bloomring check`. In no group, without commits.
// Errors: kRetry or kFatal when the brokers do not answer within the bound and no record was read; otherwise the
// records read by then.
// Threading: blocks the calling thread for at most twice the bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "pipeline/kafka/settings.h"

namespace bloomring {

struct NewestPlay {
  PartitionId partition;
  Offset offset;
  std::string value;
};

// About `count` records, an equal number from the end of each partition that has records.
Result<std::vector<NewestPlay>> newest_plays(const kafka::ClientSettings& kafka, const std::string& topic,
                                             uint32_t partitions, size_t count, int64_t bound_ms, const Clock& clock);

}  // namespace bloomring
