// The metrics of the ingest task.
#pragma once

#include "base/metrics/series_table.h"
#include "operators/ingest.h"
#include "pipeline/tasks/dead_letter_metrics.h"

namespace bloomring::metric {

inline constexpr MetricDecl kIngestRecords{
    "bloomring_ingest_records_total",
    MetricType::kCounter,
    "Play records read, by result: accepted into a block, refused to the dead-letter topic, dropped as a repeat, or "
    "skipped by the configuration (bloomring_ingest_skipped_total).",
    {{{"result", "accepted|refused|repeat|skipped"}}}};
inline constexpr MetricDecl kIngestRefused{"bloomring_ingest_refused_total",
                                           MetricType::kCounter,
                                           "Play records refused, by reason.",
                                           {{{"reason", kRefusalReasons}}}};
inline constexpr MetricDecl kIngestRefusedShare{
    "bloomring_ingest_refused_share", MetricType::kGauge,
    "Refused share of the play records that this process has read within the last minute; 0 when it has read none."};
inline constexpr MetricDecl kIngestSkipped{
    "bloomring_ingest_skipped_total",
    MetricType::kCounter,
    "Records that the configuration skips, by reason: events.kinds ignores their kind, or the view is shorter than "
    "events.view_share_min and events.view_ms_min.",
    {{{"why", "ignored_kind|short_view"}}}};
inline constexpr MetricDecl kIngestAhead{
    "bloomring_ingest_ahead_total",
    MetricType::kCounter,
    "Events that were ahead of the brokers' clock, by at most events.ahead_seconds (within) or by more (beyond). "
    "They count at the time at which they were read.",
    {{{"by", "within|beyond"}}}};
inline constexpr MetricDecl kIngestClockOffset{
    "bloomring_ingest_clock_offset_seconds", MetricType::kGauge,
    "This machine's clock minus the brokers', by the last acknowledgement. It includes the time that the "
    "acknowledgement travelled."};
inline constexpr MetricDecl kBlocks{"bloomring_blocks_total", MetricType::kCounter,
                                    "Event blocks closed and handed to the Kafka client."};
inline constexpr MetricDecl kBlockBytes{"bloomring_block_bytes_total", MetricType::kCounter,
                                        "Bytes of these event blocks, before compression."};

inline constexpr const MetricDecl* kIngestMetrics[] = {
    &kIngestRecords, &kIngestRefused, &kIngestRefusedShare, &kIngestSkipped, &kIngestAhead, &kIngestClockOffset,
    &kBlocks, &kBlockBytes};

}  // namespace bloomring::metric

namespace bloomring {

SeriesTable<IngestStats> ingest_series();

}  // namespace bloomring
