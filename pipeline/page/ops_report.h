// The state of a process at one moment, for the operations page. HTML, text and JSON are made from the same report, and
// its stages are those of /status.
//
// A report holds no ids of users or items.
// Threading: values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/running_log.h"
#include "pipeline/page/trends.h"
#include "pipeline/status/stage_status.h"

namespace bloomring {

// A part of the process, as /readyz and /healthz tell it.
struct PartReport {
  std::string part;
  bool ready = false;
  bool failed = false;
  std::string reason = {};  // Of a ready part: what it lacks.
};
// Of the answers of Health::ready_json and alive_json.
std::vector<PartReport> parts_of(const std::string& ready_json, const std::string& alive_json);

struct StageReport {
  StageStatus status;
  // Records of its topics that it has applied, a second, over at most the last minute; nothing before two looks.
  std::optional<double> records_per_second = std::nullopt;
};

// Of the serve stage.
struct ReplicaReport {
  uint32_t index = 0;
  uint32_t count = 1;
  uint32_t factor = 1;             // Replicas that hold each partition.
  std::vector<std::string> peers;  // As configured.
};

struct OpsReport {
  std::string instance;
  std::string version;
  std::string commit;
  int64_t now_ms = 0;
  int64_t started_ms = 0;
  // When the stages were last asked; nothing before the first time. They are asked every other second; where they do
  // not answer, the report is the last one, and this tells its age.
  std::optional<int64_t> looked_ms = std::nullopt;
  bool ready = false;
  bool alive = true;
  std::vector<PartReport> parts = {};
  std::vector<StageReport> stages = {};
  std::vector<Trend> trends = {};
  std::optional<ReplicaReport> replica = std::nullopt;
  std::vector<std::string> jobs = {};  // Under way, besides drains: "a backup of the filter store".
  std::vector<RecentLine> recent = {};
  std::string configuration = {};  // YAML, secrets hidden; empty where it is not known.
};

inline constexpr int64_t kLookOldMs = 10'000;  // A look that is older is told of as old.
bool look_is_old(const OpsReport& report);

// "READY", "NOT READY", "FAILED", or "DEGRADED" for a process that is ready with notes.
const char* verdict(const OpsReport& report);

// Records between the applied offset and the end of the log; nothing while either is unknown.
std::optional<int64_t> lag_records(const PartitionStatus& partition);

// The sums over the partitions of a stage, and the worst of them.
struct StageSums {
  size_t partitions = 0;
  std::optional<int64_t> lag_records = std::nullopt;  // Of the partitions whose lag is known.
  double behind_seconds_max = 0;
};
StageSums sums_of(const StageStatus& stage);

// A partition with the stage that works on it. Borrows from the report.
struct PartitionRow {
  const StageStatus* stage;
  const PartitionStatus* partition;
};
// All partitions, the longest behind first, then those with most lag.
std::vector<PartitionRow> worst_first(const OpsReport& report);
// Those with a ring, the one with the oldest unmerged slot first.
std::vector<PartitionRow> rings_worst_first(const OpsReport& report);

// Drains under way.
struct DrainRow {
  const PartitionStatus* partition;
  size_t slot;
};
std::vector<DrainRow> drains(const OpsReport& report);

// The number of rings in each state of a slot, by slot; as many slots as the largest ring has.
using SlotCounts = std::vector<std::array<size_t, kSlotStateCount>>;
SlotCounts count_slots(const OpsReport& report);
// The state that most deserves a look: draining before sealed before filling before merged before free.
SlotState chief_state(const std::array<size_t, kSlotStateCount>& counts);

}  // namespace bloomring
