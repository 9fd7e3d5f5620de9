// The metrics of threads that stall, and of stages that read back what they lost.
#pragma once

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

inline constexpr MetricDecl kRebuildEventsLeft{
    "bloomring_rebuild_events_left",
    MetricType::kGauge,
    "Events that a stage still has to read back, of those that the log held when its partitions started; 0 when it "
    "is done.",
    {{{"stage", "window|serve"}}}};
inline constexpr MetricDecl kRebuildRate{"bloomring_rebuild_events_per_second",
                                         MetricType::kGauge,
                                         "Rate at which a stage has read back since it began; 0 when it is done.",
                                         {{{"stage", "window|serve"}}}};
inline constexpr MetricDecl kRebuildSecondsLeft{"bloomring_rebuild_seconds_left",
                                                MetricType::kGauge,
                                                "Time until reading back is done at that rate; 0 when it is done.",
                                                {{{"stage", "window|serve"}}}};
inline constexpr MetricDecl kStalledTasks{
    "bloomring_stalled_tasks", MetricType::kGauge,
    "Tasks and other work of the process's threads that have made no step for process.stall_seconds."};

inline constexpr const MetricDecl* kRuntimeMetrics[] = {
    &kRebuildEventsLeft, &kRebuildRate, &kRebuildSecondsLeft, &kStalledTasks};

}  // namespace bloomring::metric
