// The metrics of a member of a consumer group.
#pragma once

#include "base/metrics/series_table.h"
#include "pipeline/kafka/consumer/group_consumer.h"

namespace bloomring::metric {

inline constexpr MetricDecl kAssignedPartitions{"bloomring_assigned_partitions",
                                                MetricType::kGauge,
                                                "Partitions that a stage of this process holds.",
                                                {{{"stage", kStages}}}};
inline constexpr MetricDecl kRebalances{"bloomring_rebalances_total",
                                        MetricType::kCounter,
                                        "Changes of a stage's assignment by its consumer group.",
                                        {{{"stage", kStages}, {"kind", "assign|revoke|lost"}}}};
inline constexpr MetricDecl kCommits{
    "bloomring_commits_total",
    MetricType::kCounter,
    "Commits of offsets, by result. After a failed commit, records are read again; none is lost.",
    {{{"stage", kStages}, {"result", "ok|failed"}}}};

inline constexpr const MetricDecl* kGroupMetrics[] = {
    &kAssignedPartitions, &kRebalances, &kCommits};

}  // namespace bloomring::metric

namespace bloomring {

// The counters; `stage` outlives the table.
inline SeriesTable<kafka::GroupStats> group_series(std::string_view stage) {
  using namespace metric;
  return {{&kCommits, {stage, "ok"}, &kafka::GroupStats::commits},
          {&kCommits, {stage, "failed"}, &kafka::GroupStats::commit_failures},
          {&kRebalances, {stage, "assign"}, &kafka::GroupStats::rebalances}};
}

}  // namespace bloomring
