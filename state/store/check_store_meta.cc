#include "state/store/check_store_meta.h"

#include <string>

namespace bloomring {

namespace {

std::string_view name_of(PeriodUnit period) {
  switch (period) {
    case PeriodUnit::kMonth: return "month";
    case PeriodUnit::kWeek: return "week";
    case PeriodUnit::kDay: return "day";
  }
  return "?";
}

Status differs(std::string_view setting, std::string_view stored, std::string_view configured) {
  return invalid(std::string(setting) + " is " + std::string(configured) + ", but the store was written with " +
                 std::string(stored) + ", and its filters would not be found: set " + std::string(stored) +
                 " again, or start with an empty filter store (another store.path) and replay");
}

}  // namespace

StoreMeta store_meta(uint32_t partition_count, const Calendar& calendar, uint64_t import_id) {
  return {partition_count, calendar.config().unit, calendar.config().time_zone, import_id};
}

Status compare_store_meta(const StoreMeta& stored, const StoreMeta& configured) {
  if (stored.partition_count != configured.partition_count) {
    return invalid("the store was made for " + std::to_string(stored.partition_count) +
                   " partitions, the configuration says " + std::to_string(configured.partition_count) +
                   ": set the old partition count again, or start with an empty "
                   "filter store and replay");
  }
  if (stored.import_id != 0 && stored.import_id != configured.import_id) {
    return invalid(
        "an import into the store has not ended, and without the rest of it played items would be unseen: run the same "
        "`bloomring store import --execute` again, or begin with an empty filter store");
  }
  if (stored.time_zone.empty()) return {};
  if (stored.period != configured.period)
    return differs("filter.period", name_of(stored.period), name_of(configured.period));
  if (stored.time_zone != configured.time_zone)
    return differs("filter.time_zone", stored.time_zone, configured.time_zone);
  return {};
}

Status check_store_meta(std::string_view bytes, const StoreMeta& configured) {
  BLOOMRING_TRY_ASSIGN(const StoreMeta stored, decode_store_meta(bytes));
  return compare_store_meta(stored, configured);
}

}  // namespace bloomring
