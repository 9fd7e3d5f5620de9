// The metrics of the window task.
#pragma once

#include "base/metrics/series_table.h"
#include "operators/window.h"

namespace bloomring::metric {

inline constexpr MetricDecl kWindowRecords{"bloomring_window_records_total", MetricType::kCounter,
                                           "Event blocks applied to the ring."};
inline constexpr MetricDecl kWindowEvents{"bloomring_window_events_total", MetricType::kCounter,
                                          "Events applied to the ring."};
inline constexpr MetricDecl kWindowBytes{"bloomring_window_bytes_total", MetricType::kCounter,
                                         "Bytes of the event blocks applied to the ring."};
inline constexpr MetricDecl kHoursReleased{"bloomring_window_released_total", MetricType::kCounter,
                                           "Hours of the log removed from the ring because they are merged."};
inline constexpr MetricDecl kMergedOffset{
    "bloomring_merged_offset",
    MetricType::kGauge,
    "Merged watermark: every event of the log below this offset is in the filter store, by partition.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kSlots{"bloomring_slots",
                                   MetricType::kGauge,
                                   "Slots of all partitions that this process holds, by state.",
                                   {{{"state", "filling|sealed|draining|merged|free"}}}};
inline constexpr MetricDecl kSlotState{
    "bloomring_slot_state",
    MetricType::kGauge,
    "State of each slot on the ring of each partition: 1 for the state that the slot is in.",
    {{{"partition", ""}, {"slot", ""}, {"state", "filling|sealed|draining|merged|free"}}}};
inline constexpr MetricDecl kOldestUnmerged{
    "bloomring_oldest_unmerged_slot_timestamp_seconds",
    MetricType::kGauge,
    "Log time at which the oldest sealed and not yet merged slot of a partition began.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kFillingAge{
    "bloomring_filling_slot_age_seconds",
    MetricType::kGauge,
    "Time since the filling slot of a partition got its first record, or since this process took the partition "
    "over; 0 while the slot holds none. Above two slot lengths, slots do not end.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kDrains{
    "bloomring_drains_total",
    MetricType::kCounter,
    "Drains of slots started, by attempt: in the hour after the slot's own, an hour later, or a lap later.",
    {{{"attempt", "first|second|lap"}}}};
inline constexpr MetricDecl kSlotsJoined{
    "bloomring_slots_joined_total", MetricType::kCounter,
    "Times that the ring reached a slot whose plays were not merged a lap later, and joined the new hour to them."};
inline constexpr MetricDecl kDrainEvents{
    "bloomring_drain_events", MetricType::kGauge,
    "Most events that a drain under way has held in memory at once; the part of memory.limit for drains bounds it."};
inline constexpr MetricDecl kDrainsAbandoned{
    "bloomring_drains_abandoned_total", MetricType::kCounter,
    "Drains abandoned because all of their hours were merged meanwhile."};
inline constexpr MetricDecl kUnreadBatches{
    "bloomring_unread_batch_records",
    MetricType::kGauge,
    "Records of user-batches that the merge stage has not committed, as the window stage last read, by partition.",
    {{{"partition", ""}}}};
inline constexpr MetricDecl kBatches{"bloomring_batches_total", MetricType::kCounter,
                                     "User batches acknowledged by the log."};
inline constexpr MetricDecl kBatchPlays{"bloomring_batch_plays_total", MetricType::kCounter,
                                        "Plays in the user batches acknowledged by the log."};
inline constexpr MetricDecl kCustodyGap{"bloomring_custody_gap_records",
                                        MetricType::kGauge,
                                        "Records that are not merged and that the log has already removed, by "
                                        "partition. They exist only in the local state of the process that holds "
                                        "the partition. 0 when all is well.",
                                        {{{"partition", ""}}}};

inline constexpr const MetricDecl* kWindowMetrics[] = {
    &kWindowRecords, &kWindowEvents, &kWindowBytes, &kHoursReleased, &kMergedOffset, &kSlots, &kSlotState,
    &kOldestUnmerged, &kFillingAge, &kDrains, &kSlotsJoined, &kDrainEvents, &kDrainsAbandoned,
    &kUnreadBatches, &kBatches, &kBatchPlays, &kCustodyGap};

}  // namespace bloomring::metric

namespace bloomring {

// The counts of a window task.
struct WindowCounts : WindowStats {
  uint64_t dead_letters = 0;
  uint64_t slots_joined = 0;
};
SeriesTable<WindowCounts> window_series();

}  // namespace bloomring
