#include "pipeline/plan/plan_store.h"

#include <algorithm>
#include <cmath>

#include "filter/stored_bytes.h"
#include "pipeline/settings/write_plan.h"

namespace bloomring {

namespace {

uint64_t items_of(const PlanInput& input, uint64_t plays) {
  const double items = static_cast<double>(plays) * (1 - input.repeats);
  return static_cast<uint64_t>(std::max(1.0, std::round(items)));
}

}  // namespace

PlanStore plan_store(const PlanInput& input, const PlaysPerUser& users) {
  const filter::Policy policy = policy_of(input.settings);
  const FilterSettings& filter = input.settings.filter;
  PlanStore store;
  // A user without plays in a period has no filter of it.
  const auto mean = [&](auto&& f) {
    return users.expect(
        [&](uint64_t plays) { return plays == 0 ? 0.0 : static_cast<double>(f(items_of(input, plays))); });
  };
  const double has_filter = mean([](uint64_t) { return 1; });
  const double open = mean([&](uint64_t items) { return filter::stored_bytes(items, policy, false); });
  const double folded = mean([&](uint64_t items) { return filter::stored_bytes(items, policy, true); });
  store.items = mean([](uint64_t items) { return items; }) / has_filter;
  store.dense_share = mean([&](uint64_t items) { return filter::takes_index(policy, items) ? 1 : 0; }) / has_filter;
  store.open_bytes = open / has_filter;
  store.folded_bytes = folded / has_filter;

  // The current period and those that are kept after it (state/period.h). One expires over the days of the period in
  // which the current one grows, so the sum is about the same on all days.
  store.filters_of_user = (1.0 + filter.retention_periods) * has_filter;
  const double closed = filter.retention_periods;
  // The embedded store folds a closed filter when a compaction unites its last operands; servers fold it at the next
  // late play.
  const PlanRange values = input.on_servers ? PlanRange::exactly(open * (1 + closed))
                                            : PlanRange{open + folded * closed, open + (open + folded) / 2 * closed,
                                                        open * (1 + closed)};
  const PlanRange keys = PlanRange::exactly(filter_key_bytes(input) * store.filters_of_user);
  if (input.on_servers) {
    store.bytes = (values + keys) * input.users;
    store.server_bytes = store.bytes * kServerMemory.value * input.server_copies;
  } else {
    store.bytes = (values + keys + kEntryBytes.value * store.filters_of_user) * input.users;
    store.disk_bytes = store.bytes * kStoreSlack.value;
  }
  store.sorted_set_entries = input.users * has_filter * store.items * filter.periods_read;
  store.sorted_set_bytes = kSortedSetEntry.value * (store.sorted_set_entries * input.server_copies);
  return store;
}

void add_store_rows(const PlanInput& input, const PlanTraffic& traffic, const PlanStore& store, PlanResult& result) {
  constexpr std::string_view kGroup = "filter store", kFilter = "filter/stored_bytes.h";
  const std::string_view sum = "sum over plays of a user";
  result.add(kGroup, "items of a filter, mean", store.items, "", {sum, kRepeats.name});
  result.add(kGroup, "filters in the dense form", store.dense_share * 100, "%", {sum, "filter.dense_from_items"});
  result.add(kGroup, "bytes of a filter, open period", store.open_bytes, "bytes", {sum, kFilter});
  result.add(kGroup, "bytes of a filter, folded", store.folded_bytes, "bytes", {sum, kFilter});
  result.add(kGroup, "bits an item, open period", store.open_bytes * 8 / store.items, "bits", {sum, kFilter});
  result.add(kGroup, "filters of a user", store.filters_of_user, "", {"filter.retention_periods"});

  const double plays_of_slot = traffic.plays_s * traffic.slot_s;
  const double day_slots = 86'400 / traffic.slot_s;
  if (input.on_servers) {
    result.add(kGroup, "keys and values, one copy", store.bytes, "bytes", {"schemas/store/redis_key.h", kFilter});
    result.add(kGroup, "memory of the servers, all copies", store.server_bytes, "bytes", {kServerMemory.name, "input"});
    const double filter_bytes = traffic.peak_slot.filter_bytes / traffic.peak_slot.users;
    result.add(kGroup, "store.plan_users_per_slot", traffic.peak_slot.users, "",
               {"users who play in the fullest slot"});
    result.add(kGroup, "store.plan_filter_bytes", filter_bytes, "bytes", {sum, kFilter});
    result.add(kGroup, "written to the servers, peak",
               traffic.peak_slot.users * (filter_bytes + kPlanKeyBytes) / traffic.slot_s, "bytes/s",
               {"pipeline/settings/write_plan.h"});
    return;
  }
  result.add(kGroup, "keys and values", store.bytes, "bytes", {"schemas/store_key.h", kFilter, kEntryBytes.name});
  result.add(kGroup, "on the disk", store.disk_bytes, "bytes", {kStoreSlack.name});
  result.add(kGroup, "handed to the store, bytes a play", traffic.mean_slot.operand_bytes / plays_of_slot, "bytes",
             {sum, kFilter});
  result.add(kGroup, "written to the disk a day", kWriteFactor.value * (traffic.mean_slot.operand_bytes * day_slots),
             "bytes", {kWriteFactor.name});
}

}  // namespace bloomring
