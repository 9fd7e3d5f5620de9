// The metrics that every stage has.
#pragma once

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

inline constexpr MetricDecl kStageUp{"bloomring_stage_up",
                                     MetricType::kGauge,
                                     "1 while a stage runs in this process, 0 when it has stopped on a failure.",
                                     {{{"stage", kStages}}}};
inline constexpr MetricDecl kStageReady{
    "bloomring_stage_ready",
    MetricType::kGauge,
    "1 while a stage works on all partitions that it was assigned, 0 while it starts or rebuilds.",
    {{{"stage", kStages}}}};

inline constexpr const MetricDecl* kStageMetrics[] = {
    &kStageUp, &kStageReady};

}  // namespace bloomring::metric
