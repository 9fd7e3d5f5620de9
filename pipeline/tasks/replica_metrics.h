// The metrics of the serve stage's tasks, and of the plays and served items that they keep in memory for queries.
#pragma once

#include "base/metrics/series_table.h"
#include "pipeline/tasks/replica_task.h"

namespace bloomring::metric {

inline constexpr MetricDecl kServePartitions{
    "bloomring_serve_partitions",
    MetricType::kGauge,
    "Partitions of this replica, by state: ready, catching up, or waiting for a leader or for the log that the "
    "store was filled from. Calls about partitions that are not ready are passed on or refused.",
    {{{"state", "ready|catching_up|waiting"}}}};
inline constexpr MetricDecl kServeRecords{"bloomring_serve_records_total", MetricType::kCounter,
                                          "Event blocks applied to the recent plays."};
inline constexpr MetricDecl kServeEvents{"bloomring_serve_events_total", MetricType::kCounter,
                                         "Events applied to the recent plays."};
inline constexpr MetricDecl kServeBadBlocks{
    "bloomring_serve_bad_blocks_total", MetricType::kCounter,
    "Records of user-events that are no event blocks and were skipped. The window stage writes their dead letters."};
// From a millisecond to an hour, for delays; a play is filtered within 0.2 s when all is well.
inline constexpr double kDelayBuckets[] = {0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};
inline constexpr MetricDecl kEventToSeen{
    "bloomring_event_to_seen_seconds",
    MetricType::kHistogram,
    "Delay from the write of an event to the log until queries see it; each event of a block counts. Computed from "
    "the brokers' times and this machine's steady clock, relative to the fastest block so far.",
    {},
    kDelayBuckets};
inline constexpr MetricDecl kRecentEntries{"bloomring_recent_entries", MetricType::kGauge,
                                           "Recent plays held in memory for queries."};
inline constexpr MetricDecl kRecentBytes{"bloomring_recent_bytes", MetricType::kGauge,
                                         "Memory of the recent plays held for queries."};
inline constexpr MetricDecl kRecentForgets{"bloomring_recent_forgets", MetricType::kGauge,
                                           "Forgets held in memory for queries."};
inline constexpr MetricDecl kRecentSlots{"bloomring_recent_slots", MetricType::kGauge,
                                         "Slots of recent plays held in memory for queries, of all partitions."};
inline constexpr MetricDecl kRecentFromOffset{
    "bloomring_recent_from_offset",
    MetricType::kGauge,
    "Offset of user-events from which on the plays of a partition are held in memory for queries.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kRecentEarly{
    "bloomring_recent_early_releases_total", MetricType::kCounter,
    "Merged hours of recent plays that were released before their lap was over, to stay within the bound."};
inline constexpr MetricDecl kRecentOverBound{
    "bloomring_recent_over_bound_partitions", MetricType::kGauge,
    "Partitions whose recent plays exceed their share of memory.limit, because plays are not merged."};
inline constexpr MetricDecl kServedShortened{
    "bloomring_served_shortened_total", MetricType::kCounter,
    "Times that served items younger than served.max_age_seconds were released, to stay within the bound."};
inline constexpr MetricDecl kServedUsers{"bloomring_served_users", MetricType::kGauge,
                                         "Users with served items in memory."};
inline constexpr MetricDecl kServedEntries{"bloomring_served_entries", MetricType::kGauge,
                                           "Served items held in memory for queries."};
inline constexpr MetricDecl kServedBytes{"bloomring_served_bytes", MetricType::kGauge,
                                         "Memory of the served items held for queries."};

inline constexpr const MetricDecl* kReplicaMetrics[] = {
    &kServePartitions, &kServeRecords, &kServeEvents, &kServeBadBlocks, &kEventToSeen, &kRecentEntries, &kRecentBytes,
    &kRecentForgets, &kRecentSlots, &kRecentFromOffset, &kRecentEarly, &kRecentOverBound, &kServedShortened,
    &kServedUsers, &kServedEntries, &kServedBytes};

}  // namespace bloomring::metric

namespace bloomring {

// The counts of a replica task and its partition.
struct ReplicaCounts : ReplicaStats {
  uint64_t early_releases = 0;
  uint64_t served_shortened = 0;
};
SeriesTable<ReplicaCounts> replica_series();

// The contents of a partition's memory now.
struct ReplicaMemory {
  RecentPlaysStats recent;
  ServedItemsStats served;
};
// Summed over partitions.
SeriesTable<ReplicaMemory> replica_memory_series();

}  // namespace bloomring
