#include "state/store/check_update.h"

#include "schemas/store_key.h"

namespace bloomring {

Status check_update(const FilterUpdate& update) {
  if (!UserKey::valid(update.user.key)) return bad_record("an update without a valid user key");
  if (!period_has_key(update.period)) return bad_record("an update of an impossible period");
  if (update.items.empty()) return bad_record("an update without items");
  return {};
}

Status check_update(const ForgottenUpdate& update) {
  if (!UserKey::valid(update.user.key)) return bad_record("an update without a valid user key");
  if (update.removed_from >= update.removed_to) return {};
  if (period_has_key(update.removed_from) && period_has_key(PeriodIndex(update.removed_to.value - 1))) return {};
  return bad_record("an update of an impossible period");
}

Status check_partition(PartitionId partition, uint32_t partition_count) {
  if (partition.value >= 0 && partition.value < static_cast<int32_t>(partition_count)) return {};
  return invalid("partition " + std::to_string(partition.value) + " of a filter store of " +
                 std::to_string(partition_count) + " partitions");
}

}  // namespace bloomring
