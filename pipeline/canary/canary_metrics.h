// The metrics of the canary.
#pragma once

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

// From 10 ms to the longest time that one may wait by default, canary.timeout_seconds; the budget is 200 ms at p99.
inline constexpr double kCanaryBuckets[] = {0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 30};

inline constexpr MetricDecl kCanarySeconds{
    "bloomring_canary_round_trip_seconds",
    MetricType::kHistogram,
    "Time from sending a play of the canary to the topic of plays until the query service answered that it is seen, of "
    "those that were seen in time.",
    {},
    kCanaryBuckets};
inline constexpr MetricDecl kCanaryPlays{
    "bloomring_canary_plays_total",
    MetricType::kCounter,
    "Plays of the canary, by result: seen in time; unseen, written to the topic of plays but not seen within "
    "canary.timeout_seconds; unwritten, not taken by the brokers in that time.",
    {{{"result", "seen|unseen|unwritten"}}}};

inline constexpr const MetricDecl* kCanaryMetrics[] = {&kCanarySeconds, &kCanaryPlays};

}  // namespace bloomring::metric
