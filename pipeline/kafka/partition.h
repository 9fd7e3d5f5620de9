// Names and facts of a partition, as the consumers of pipeline/kafka return them.
// Threading: values.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "base/ids.h"

namespace bloomring::kafka {

struct TopicPartition {
  std::string topic;
  PartitionId partition;
  auto operator<=>(const TopicPartition&) const = default;
};

// "user-events[7]", as in logs and messages.
inline std::string to_string(const TopicPartition& at) {
  return at.topic + "[" + std::to_string(at.partition.value) + "]";
}

// A start position: the oldest record that the log still has when reading begins.
inline constexpr Offset kLogStart{-2};

// The broker's facts about a partition at one moment. Offsets in [log_start, log_end) can be read.
struct PartitionFacts {
  std::optional<Offset> committed;  // The group's commit: the first offset not done with. Nothing outside a group.
  Offset log_start;
  Offset log_end;
};

}  // namespace bloomring::kafka
