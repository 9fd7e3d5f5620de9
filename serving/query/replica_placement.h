// Decides by arithmetic, without coordination, which replica of the query service holds which partition.
//
// Replica i of n with replication factor f holds partition p when p mod n is one of i, i-1, ..., i-f+1 (mod n): each
// partition has f holders, and each replica holds f/n of the partitions, give or take one for each residue.
// A StatefulSet's ordinal is the index.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace bloomring {

struct ReplicaPlacement {
  uint32_t index = 0;  // [0, count)
  uint32_t count = 1;
  uint32_t factor = 1;  // [1, count]

  bool holds(PartitionId partition) const {
    const uint32_t first = static_cast<uint32_t>(partition.value) % count;
    return (index + count - first) % count < factor;
  }
  // All replicas that hold the partition, this one too if it does.
  std::vector<uint32_t> holders(PartitionId partition) const {
    std::vector<uint32_t> indices;
    for (uint32_t i = 0; i < factor; ++i) indices.push_back((static_cast<uint32_t>(partition.value) + i) % count);
    return indices;
  }
  // Those that this replica holds.
  std::vector<PartitionId> partitions(uint32_t partition_count) const {
    std::vector<PartitionId> held;
    for (uint32_t p = 0; p < partition_count; ++p) {
      if (holds(PartitionId(static_cast<int32_t>(p)))) held.emplace_back(static_cast<int32_t>(p));
    }
    return held;
  }
};

}  // namespace bloomring
