#include "pipeline/tasks/replica_metrics.h"

#include "state/store/store_metrics.h"

namespace bloomring {

namespace {

template <typename Part, typename Number>
std::function<double(const ReplicaMemory&)> number_of(Part part, Number number) {
  return [=](const ReplicaMemory& memory) { return static_cast<double>(memory.*part.*number); };
}

}  // namespace

SeriesTable<ReplicaCounts> replica_series() {
  using namespace metric;
  return {
      {&kServeRecords, {}, &ReplicaCounts::blocks},
      {&kServeEvents, {}, &ReplicaCounts::events},
      {&kServeBadBlocks, {}, &ReplicaCounts::bad_blocks},
      {&kStoreErrors, {"read"}, &ReplicaCounts::store_retries},
      {&kRecentEarly, {}, &ReplicaCounts::early_releases},
      {&kServedShortened, {}, &ReplicaCounts::served_shortened},
  };
}

SeriesTable<ReplicaMemory> replica_memory_series() {
  using namespace metric;
  using Memory = ReplicaMemory;
  return {
      {&kRecentEntries, {}, number_of(&Memory::recent, &RecentPlaysStats::plays)},
      {&kRecentForgets, {}, number_of(&Memory::recent, &RecentPlaysStats::forgets)},
      {&kRecentBytes, {}, number_of(&Memory::recent, &RecentPlaysStats::bytes)},
      {&kRecentSlots, {}, number_of(&Memory::recent, &RecentPlaysStats::generations)},
      {&kRecentOverBound, {}, number_of(&Memory::recent, &RecentPlaysStats::over_bound)},
      {&kServedUsers, {}, number_of(&Memory::served, &ServedItemsStats::users)},
      {&kServedEntries, {}, number_of(&Memory::served, &ServedItemsStats::items)},
      {&kServedBytes, {}, number_of(&Memory::served, &ServedItemsStats::bytes)},
  };
}

}  // namespace bloomring
