// The metrics of the RocksDB databases of a process.
#pragma once

#include "base/metrics/series_table.h"
#include "state/rocksdb/state_memory.h"

namespace bloomring::metric {

inline constexpr std::string_view kRocksStores = "filters|window";
inline constexpr MetricDecl kRocksWriteStopped{
    "bloomring_rocksdb_write_stopped",
    MetricType::kGauge,
    "1 while RocksDB blocks all writes, by store: the filter store, or any of the window stores.",
    {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksStall{"bloomring_rocksdb_stall_seconds_total",
                                        MetricType::kCounter,
                                        "Time that writes waited because flushes or compactions are behind, by store.",
                                        {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksPending{"bloomring_rocksdb_pending_compaction_bytes",
                                          MetricType::kGauge,
                                          "Bytes that compactions still have to rewrite, by RocksDB's estimate, by "
                                          "store.",
                                          {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksErrors{"bloomring_rocksdb_background_errors_total",
                                         MetricType::kCounter,
                                         "Failed flushes and compactions, by store. 0 when all is well.",
                                         {{{"store", kRocksStores}}}};
inline constexpr MetricDecl kRocksCache{"bloomring_rocksdb_block_cache_lookups_total",
                                        MetricType::kCounter,
                                        "Lookups in the block cache, by store.",
                                        {{{"store", kRocksStores}, {"result", "hit|miss"}}}};
inline constexpr MetricDecl kStateMemory{
    "bloomring_state_memory_bytes", MetricType::kGauge,
    "Memory that the embedded stores take for blocks, indexes and write buffers. Its bound is the part `stores` of "
    "bloomring_memory_part_bytes."};
inline constexpr MetricDecl kWriteBufferMemory{"bloomring_write_buffer_bytes", MetricType::kGauge,
                                               "Share of bloomring_state_memory_bytes that write buffers take."};

inline constexpr const MetricDecl* kRocksMetrics[] = {
    &kRocksWriteStopped, &kRocksStall, &kRocksPending, &kRocksErrors, &kRocksCache, &kStateMemory, &kWriteBufferMemory};

}  // namespace bloomring::metric

namespace bloomring {

// Of the databases of one kind; `store` is a word of kRocksStores.
inline SeriesTable<RocksHealth> rocks_series(std::string_view store) {
  using namespace metric;
  return {{&kRocksWriteStopped, {store}, &RocksHealth::write_stopped},
          {&kRocksStall, {store}, [](const RocksHealth& health) { return static_cast<double>(health.stall_us) / 1e6; }},
          {&kRocksPending, {store}, &RocksHealth::pending_compaction_bytes},
          {&kRocksErrors, {store}, &RocksHealth::background_errors},
          {&kRocksCache, {store, "hit"}, &RocksHealth::cache_hits},
          {&kRocksCache, {store, "miss"}, &RocksHealth::cache_misses}};
}

}  // namespace bloomring
