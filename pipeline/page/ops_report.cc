#include "pipeline/page/ops_report.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

namespace bloomring {

namespace {

// Of the sort: a ring without an unmerged slot comes last.
int64_t unmerged_since(const PartitionRow& row) {
  return oldest_unmerged_ms(*row.partition->ring).value_or(std::numeric_limits<int64_t>::max());
}

}  // namespace

std::vector<PartReport> parts_of(const std::string& ready_json, const std::string& alive_json) {
  const auto ready = nlohmann::json::parse(ready_json), alive = nlohmann::json::parse(alive_json);
  std::vector<PartReport> parts;
  for (const auto& [name, part] : ready["parts"].items()) {
    const bool lives = alive["parts"].value(name, nlohmann::json::object()).value("alive", true);
    parts.push_back({name, part["ready"], !lives, part.value("reason", "")});
  }
  return parts;
}

bool look_is_old(const OpsReport& report) {
  return report.looked_ms && report.now_ms - *report.looked_ms > kLookOldMs;
}

const char* verdict(const OpsReport& report) {
  if (!report.alive) return "FAILED";
  if (!report.ready) return "NOT READY";
  const auto noted = [](const PartReport& part) { return !part.reason.empty(); };
  return std::ranges::any_of(report.parts, noted) || look_is_old(report) ? "DEGRADED" : "READY";
}

std::optional<int64_t> lag_records(const PartitionStatus& partition) {
  const PartitionLevel& level = partition.level;
  if (level.applied.value < 0 || level.log_end.value < 0) return std::nullopt;
  return std::max<int64_t>(0, level.log_end.value - level.applied.value);
}

StageSums sums_of(const StageStatus& stage) {
  StageSums sums{stage.partitions.size()};
  for (const PartitionStatus& partition : stage.partitions) {
    if (const auto lag = lag_records(partition)) sums.lag_records = sums.lag_records.value_or(0) + *lag;
    sums.behind_seconds_max = std::max(sums.behind_seconds_max, partition.behind_seconds);
  }
  return sums;
}

std::vector<PartitionRow> worst_first(const OpsReport& report) {
  std::vector<PartitionRow> rows;
  for (const StageReport& stage : report.stages) {
    for (const PartitionStatus& partition : stage.status.partitions) rows.push_back({&stage.status, &partition});
  }
  std::ranges::stable_sort(rows, std::greater<>(), [](const PartitionRow& row) {
    return std::tuple(row.partition->behind_seconds, lag_records(*row.partition).value_or(0));
  });
  return rows;
}

std::vector<PartitionRow> rings_worst_first(const OpsReport& report) {
  std::vector<PartitionRow> rows;
  for (const StageReport& stage : report.stages) {
    for (const PartitionStatus& partition : stage.status.partitions) {
      if (partition.ring && !partition.ring->slots.empty()) rows.push_back({&stage.status, &partition});
    }
  }
  std::ranges::stable_sort(rows, {}, unmerged_since);
  return rows;
}

std::vector<DrainRow> drains(const OpsReport& report) {
  std::vector<DrainRow> rows;
  for (const PartitionRow& row : rings_worst_first(report)) {
    const std::vector<SlotStatus>& slots = row.partition->ring->slots;
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].state == SlotState::kDraining) rows.push_back({row.partition, slot});
    }
  }
  return rows;
}

SlotCounts count_slots(const OpsReport& report) {
  SlotCounts counts;
  for (const PartitionRow& row : rings_worst_first(report)) {
    const std::vector<SlotStatus>& slots = row.partition->ring->slots;
    counts.resize(std::max(counts.size(), slots.size()));
    for (size_t slot = 0; slot < slots.size(); ++slot) ++counts[slot][static_cast<size_t>(slots[slot].state)];
  }
  return counts;
}

SlotState chief_state(const std::array<size_t, kSlotStateCount>& counts) {
  for (const SlotState state : {SlotState::kDraining, SlotState::kSealed, SlotState::kFilling, SlotState::kMerged}) {
    if (counts[static_cast<size_t>(state)] > 0) return state;
  }
  return SlotState::kFree;
}

}  // namespace bloomring
