// The checks by which every filter store refuses updates before it writes.
// Threading: pure functions.
#pragma once

#include "state/store/stored_values.h"

namespace bloomring {

// kBadRecord for an update that can have no key or holds nothing.
Status check_update(const FilterUpdate& update);
Status check_update(const ForgottenUpdate& update);
// kInvalid for a partition that a store of `partition_count` partitions does not have.
Status check_partition(PartitionId partition, uint32_t partition_count);

}  // namespace bloomring
