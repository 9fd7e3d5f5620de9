// The metrics of this room: the levels of partitions, and what a process measures of itself.
//
// A lag is a number of log records:
//   processing  log end minus applied: a backlog.
//   custody     log end minus committed: by design at least the records of the ring. After the loss of a disk, a
//               stage reads this many records again.
#pragma once

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

inline constexpr MetricDecl kProcessingLag{
    "bloomring_processing_lag_records",
    MetricType::kGauge,
    "Log records at or after the applied offset: the backlog of a stage, by partition.",
    {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kBehind{
    "bloomring_behind_seconds",
    MetricType::kGauge,
    "Time since a broker was asked for the end of the log that a stage has reached, by partition. Records written "
    "later may not be applied yet. Rises while no broker answers, and from 0 when a partition begins. A steady "
    "clock measures it.",
    {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kCustodyLag{
    "bloomring_custody_lag_records",
    MetricType::kGauge,
    "Log records at or after the committed offset. Not a backlog: for the window stage it is by design at least the "
    "records on the ring.",
    {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kAppliedOffset{"bloomring_applied_offset",
                                           MetricType::kGauge,
                                           "Next offset that a stage will apply, by partition.",
                                           {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kCommittedOffset{"bloomring_committed_offset",
                                             MetricType::kGauge,
                                             "Offset last committed for the group of a stage, by partition.",
                                             {{{"stage", kStages}, {"topic", ""}, {"partition", ""}}}};
inline constexpr MetricDecl kBrokerSilence{
    "bloomring_broker_silence_seconds", MetricType::kGauge,
    "Time since a broker last answered this process, which asks one each second."};
inline constexpr MetricDecl kBuildInfo{
    "bloomring_build_info",
    MetricType::kGauge,
    "Always 1. The labels name the versions in this process. The commit is `unknown` in a build without git.",
    {{{"version", ""}, {"commit", ""}, {"librdkafka", ""}, {"rocksdb", ""}, {"grpc", ""}}}};
inline constexpr MetricDecl kMemoryPart{"bloomring_memory_part_bytes",
                                        MetricType::kGauge,
                                        "Share of memory.limit that each part of the process gets.",
                                        {{{"part", ""}}}};
inline constexpr MetricDecl kMemoryLimit{"bloomring_memory_limit_bytes", MetricType::kGauge,
                                         "Bound of the resident memory of the process: memory.limit."};
inline constexpr MetricDecl kFolderBytes{
    "bloomring_folder_bytes",
    MetricType::kGauge,
    "Bytes of all files below the folder of store.path or state.path; looked up once a minute.",
    {{{"folder", "store|state"}}}};
inline constexpr MetricDecl kFolderFree{"bloomring_folder_free_bytes",
                                        MetricType::kGauge,
                                        "Free bytes of the disk that the folder of store.path or state.path is on.",
                                        {{{"folder", "store|state"}}}};
inline constexpr MetricDecl kCertificateExpiry{
    "bloomring_certificate_expiry_timestamp_seconds",
    MetricType::kGauge,
    "Earliest expiry of the certificates in a file, by the configuration key that names the file; looked up once a "
    "minute. Absent when the file cannot be read.",
    {{{"key", ""}}}};

inline constexpr const MetricDecl* kPipelineMetrics[] = {
    &kProcessingLag, &kBehind, &kCustodyLag, &kAppliedOffset, &kCommittedOffset, &kBrokerSilence, &kBuildInfo,
    &kMemoryPart, &kMemoryLimit, &kFolderBytes, &kFolderFree, &kCertificateExpiry};

}  // namespace bloomring::metric
