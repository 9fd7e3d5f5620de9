#include "tests/simulation/sim_order.h"

#include <algorithm>
#include <functional>
#include <variant>

namespace bloomring::simulation {

std::string DrainOrder::saw(std::string_view record, PartitionId partition, uint32_t partition_count) {
  auto decoded = decode_batch_record(record, partition, partition_count);
  if (!decoded.ok()) return "no record of user-batches: " + decoded.status().message();
  const auto* end = std::get_if<SlotEnd>(&*decoded);
  const DrainHeader& header = end != nullptr ? end->header : std::get<UserBatchReader>(*decoded).header();
  const Key key(header.range.from.value, header.range.to.value, static_cast<int>(header.attempt),
                header.forgets_digest);
  kinds_.push_back(end != nullptr ? Kind::kSlotEnd : Kind::kBatches);
  if (end == nullptr) {
    records_[key].insert(std::hash<std::string_view>()(record));
    return "";
  }
  const bool forged = end->version != kSlotEndVersion || end->keyed_sum != slot_end_sum(*end, SumKey{});
  if (forged) return "";
  ++slot_ends_;
  spoken_to_ = std::max(spoken_to_, header.range.to);
  const size_t before = records_[key].size();
  if (before >= end->records) return "";
  return "the slot end at offset " + std::to_string(kinds_.size() - 1) + " is of a drain of " +
         std::to_string(end->records) + " records, and " + std::to_string(before) + " stand before it";
}

std::string DrainOrder::committed(int64_t next, int64_t start) const {
  if (next > static_cast<int64_t>(kinds_.size())) return "committed beyond the log's end: " + std::to_string(next);
  int64_t last = next - 1;
  while (last >= start && kinds_[static_cast<size_t>(last)] == Kind::kGap) --last;
  if (last < start || kinds_[static_cast<size_t>(last)] == Kind::kSlotEnd) return "";
  return "committed behind no slot end: " + std::to_string(next);
}

}  // namespace bloomring::simulation
