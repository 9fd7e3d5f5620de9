// The metrics of the filter store.
#pragma once

#include "base/metrics/series_table.h"
#include "state/store/stored_values.h"

namespace bloomring::metric {

inline constexpr MetricDecl kStoreUpdates{"bloomring_store_updates_total", MetricType::kCounter,
                                          "Updates of filters handed to the filter store."};
inline constexpr MetricDecl kStoreBytes{"bloomring_store_bytes_total", MetricType::kCounter,
                                        "Bytes of keys and values handed to the filter store."};
inline constexpr MetricDecl kStorePhysicalBytes{
    "bloomring_store_physical_bytes_total", MetricType::kCounter,
    "Bytes that the embedded filter store has written to disk for these updates: log, flush and compaction."};
inline constexpr MetricDecl kStoreDiskBytes{"bloomring_store_disk_bytes", MetricType::kGauge,
                                            "Bytes on disk of the embedded filter store."};
inline constexpr MetricDecl kStoreExpiredUpdates{
    "bloomring_store_expired_updates_total", MetricType::kCounter,
    "Updates not written because their filter has expired."};
inline constexpr MetricDecl kStoreExpired{"bloomring_store_expired_total", MetricType::kCounter,
                                          "Filters, or parts of them, that expiry has removed from the store."};
inline constexpr MetricDecl kStoreRefused{
    "bloomring_store_refused_total", MetricType::kCounter,
    "Stored values that reads and compactions of this process refused as no filters of their key. 0 when all is "
    "well; `bloomring store check` names the keys."};
inline constexpr MetricDecl kStoreTableFiles{"bloomring_store_table_files", MetricType::kGauge,
                                             "Table files of the embedded filter store."};
inline constexpr MetricDecl kStoreOpenFilesMax{"bloomring_store_open_files_max", MetricType::kGauge,
                                               "Table files that this process may have open at once."};
inline constexpr MetricDecl kStoreBackups{"bloomring_store_backups_total",
                                          MetricType::kCounter,
                                          "Backups of the embedded filter store by this process.",
                                          {{{"result", "ok|failed"}}}};
inline constexpr MetricDecl kStoreBackupTime{"bloomring_store_backup_timestamp_seconds", MetricType::kGauge,
                                             "Time at which the newest backup of the embedded filter store was "
                                             "taken."};
inline constexpr MetricDecl kStoreErasedRanges{
    "bloomring_store_erased_ranges_total", MetricType::kCounter,
    "Ranges of keys of the embedded filter store that were compacted to erase deleted filters from its files."};
inline constexpr MetricDecl kStoreRangesToErase{
    "bloomring_store_ranges_to_erase", MetricType::kGauge,
    "Ranges of keys whose deleted filters are still in the files of the embedded filter store."};
inline constexpr MetricDecl kStoreEraseSince{
    "bloomring_store_erase_since_timestamp_seconds", MetricType::kGauge,
    "Time of the oldest deletion of filters whose bytes are still in the files of the embedded filter store; 0 without "
    "one."};
inline constexpr MetricDecl kStoreErrors{
    "bloomring_store_errors_total",
    MetricType::kCounter,
    "Failed operations on the filter store; `apply` counts all those of the merge stage.",
    {{{"op", "apply|read|refresh|erase"}}}};

inline constexpr const MetricDecl* kStoreMetrics[] = {
    &kStoreUpdates, &kStoreBytes, &kStorePhysicalBytes, &kStoreDiskBytes, &kStoreExpiredUpdates, &kStoreExpired,
    &kStoreRefused, &kStoreTableFiles, &kStoreOpenFilesMax, &kStoreBackups, &kStoreBackupTime, &kStoreErasedRanges,
    &kStoreRangesToErase, &kStoreEraseSince, &kStoreErrors};

}  // namespace bloomring::metric

namespace bloomring {

// Of a process that reads the store, and what a process that writes it has besides.
inline SeriesTable<FilterStoreStats> store_reader_series() {
  using namespace metric;
  return {{&kStoreRefused, {}, &FilterStoreStats::refused},
          {&kStoreTableFiles, {}, &FilterStoreStats::table_files},
          {&kStoreOpenFilesMax, {}, &FilterStoreStats::open_files_max}};
}

inline SeriesTable<FilterStoreStats> store_writer_series() {
  using namespace metric;
  const auto erase_since_s = [](const FilterStoreStats& stats) {
    return static_cast<double>(stats.erase_since_ms.value_or(0)) / 1000.0;
  };
  return {{&kStoreUpdates, {}, &FilterStoreStats::updates},
          {&kStoreBytes, {}, &FilterStoreStats::bytes_written},
          {&kStorePhysicalBytes, {}, &FilterStoreStats::physical_bytes_written},
          {&kStoreDiskBytes, {}, &FilterStoreStats::bytes_on_disk},
          {&kStoreExpiredUpdates, {}, &FilterStoreStats::expired_updates},
          {&kStoreExpired, {}, &FilterStoreStats::expired_dropped},
          {&kStoreErasedRanges, {}, &FilterStoreStats::ranges_erased},
          {&kStoreRangesToErase, {}, &FilterStoreStats::ranges_to_erase},
          {&kStoreEraseSince, {}, erase_since_s}};
}

}  // namespace bloomring
