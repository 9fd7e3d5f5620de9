// The newest records of a topic of plays, of all its partitions: for `bloomring check`. In no group, without commits.
// Failure: kRetry or kFatal when the brokers do not tell within the bound; what was read by then is given
// where there is any.
// Threading: a function of the calling thread, which it holds for at most twice the bound.
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

// About `count` records, an equal part of each partition's end.
Result<std::vector<NewestPlay>> newest_plays(const kafka::ClientSettings& kafka, const std::string& topic,
                                             uint32_t partitions, size_t count, int64_t bound_ms, const Clock& clock);

}  // namespace bloomring
