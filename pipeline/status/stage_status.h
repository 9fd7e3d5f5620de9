// The status of a stage for a person or a page.
// Threading: values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "pipeline/kafka/partition.h"
#include "pipeline/status/ring_status.h"
#include "pipeline/status/store_status.h"

namespace bloomring {

struct PartitionLevel {
  Offset applied{-1};  // -1: unknown, and not shown.
  Offset committed{-1};
  Offset log_end{-1};
};

struct PartitionStatus {
  kafka::TopicPartition at;
  PartitionLevel level = {};
  double behind_seconds = 0;  // Since when the partition is behind the end of its log; 0 when it is not.
  std::optional<RingStatus> ring = std::nullopt;  // Of the window stage's.
};

struct StageStatus {
  std::string stage;
  std::string address = {};                      // "host:port" that takes calls; empty when there is none.
  std::vector<PartitionStatus> partitions = {};  // Of those that it works on now.
  std::map<std::string, double> numbers = {};    // Of the stage's own, by name: "recent_plays".
  std::optional<StoreStatus> store = std::nullopt;  // Of the stage that writes the filter store.
};

}  // namespace bloomring
