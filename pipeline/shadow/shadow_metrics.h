// The metrics of `bloomring shadow` while it takes copies of live queries.
#pragma once

#include "base/metrics/series_table.h"
#include "pipeline/shadow/shadow_counts.h"

namespace bloomring::metric {

inline constexpr MetricDecl kShadowQueries{
    "bloomring_shadow_queries_total",
    MetricType::kCounter,
    "Copies of queries, by result: compared; dropped because the queue was full; refused because they were none; "
    "unlike anything that the old store can be asked; not answered by the old store, or by the service; answered "
    "incompletely.",
    {{{"result", "compared|dropped|refused|unlike|failed_old|failed_new|incomplete"}}}};
inline constexpr MetricDecl kShadowCandidates{
    "bloomring_shadow_candidates_total",
    MetricType::kCounter,
    "Candidates of compared queries, by result: seen and unseen by both; missing in the service, which must be 0; all "
    "other differences by their explanation. Candidates that are to be asked again do not count yet.",
    {{{"result", "seen|unseen|expired|refused|seen_late|removed|forgotten|old_error|served|old_late|not_in_old|cut|"
                 "false_positive|unsettled|missing"}}}};
inline constexpr double kShadowBuckets[] = {0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005,
                                            0.01,   0.025,   0.05,   0.1,   0.25,  1};
inline constexpr MetricDecl kShadowSeconds{"bloomring_shadow_seconds",
                                           MetricType::kHistogram,
                                           "Time until the old store, and the service, answered a query.",
                                           {{{"service", "old|new"}}},
                                           kShadowBuckets};

inline constexpr const MetricDecl* kShadowMetrics[] = {&kShadowQueries, &kShadowCandidates, &kShadowSeconds};

}  // namespace bloomring::metric

namespace bloomring {

const SeriesTable<ShadowCounts>& shadow_series();

}  // namespace bloomring
