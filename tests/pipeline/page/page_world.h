// Reports for the tests of the operations page.
#pragma once

#include <string>
#include <vector>

#include "pipeline/page/ops_report.h"

namespace bloomring::test {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kNowMs = 1'793'786'400'000;  // 2026-11-04 10:00:00Z, the start of an hour.

// A ring of six slots: slot 0 merged, 1 draining, 2 sealed, 3 filling, the others free.
inline RingStatus ring_of(int64_t hours_ago = 0) {
  RingStatus ring{kHourMs, Offset(40), Offset(100), std::vector<SlotStatus>(6)};
  const int64_t now = kNowMs / kHourMs - hours_ago;
  const auto hour = [](int64_t number, int64_t from) {
    return StagedHour{HourIndex(number), {Offset(from), Offset(from + 10)}, 1'500, 2'048};
  };
  ring.slots[0].state = SlotState::kMerged;
  ring.slots[1] = {SlotState::kDraining, {hour(now - 2, 40)}};
  ring.slots[2] = {SlotState::kSealed, {hour(now - 1, 50)}};
  ring.slots[3] = {SlotState::kFilling, {hour(now, 60)}};
  return ring;
}

inline PartitionStatus partition_of(const std::string& topic, int32_t id, int64_t lag = 0, double behind = 0) {
  return {{topic, PartitionId(id)}, {Offset(1'000), Offset(900), Offset(1'000 + lag)}, behind};
}

// A process with every stage and `partitions` partitions; ready.
inline OpsReport report_of(int32_t partitions) {
  OpsReport report{.instance = "site-1", .version = "0.1.0", .commit = "0123456789ab"};
  report.now_ms = kNowMs;
  report.started_ms = kNowMs - 2 * kHourMs - 5 * 60'000;
  report.looked_ms = kNowMs - 1'000;
  report.ready = true;
  report.parts = {{"serve", true}, {"window", true}};
  StageReport window{{.stage = "window"}, 12.5}, merge{{.stage = "merge"}, 0.0}, serve{{.stage = "serve"}};
  for (int32_t id = 0; id < partitions; ++id) {
    window.status.partitions.push_back(partition_of("user-events", id));
    window.status.partitions.back().ring = ring_of();
    merge.status.partitions.push_back(partition_of("user-batches", id, 3));
    serve.status.partitions.push_back(partition_of("user-events", id));
  }
  merge.status.store = StoreStatus{"/var/lib/bloomring/store", 5 << 20};
  serve.status.address = "127.0.0.1:7700";
  serve.status.numbers = {{"recent_plays", 12'345}};
  report.stages = {window, merge, serve};
  report.replica = ReplicaReport{0, 2, 1, {"serve-0:7700", "serve-1:7700"}};
  report.configuration = "ring.slots: 6  # default\nkafka.properties:\n  sasl.password: (hidden)  # site.yaml:3\n";
  return report;
}

}  // namespace bloomring::test
