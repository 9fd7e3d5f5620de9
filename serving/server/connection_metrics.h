// The metrics of the connections to the gRPC port.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/metrics/series_table.h"

namespace bloomring::metric {

inline constexpr MetricDecl kConnectionsRefused{
    "bloomring_connections_refused_total",
    MetricType::kCounter,
    "Connections to the gRPC port that the process closed at once, by the bound that was reached: the files that it "
    "may have open, or the memory for calls.",
    {{{"cause", "descriptors|memory"}}}};
inline constexpr MetricDecl kConnectionsEnded{
    "bloomring_connections_ended_total", MetricType::kCounter,
    "Connections to the gRPC port that the process ended while the memory for calls or the files that it may have open "
    "left no room for more, because a client came whose host had fewer than theirs."};
inline constexpr MetricDecl kAcceptsPostponed{
    "bloomring_accepts_postponed_total", MetricType::kCounter,
    "Times that the gRPC port could accept nothing, because the process or the system had no descriptor or memory "
    "left; it tries again every 50 ms."};

inline constexpr const MetricDecl* kConnectionMetrics[] = {&kConnectionsRefused, &kConnectionsEnded,
                                                           &kAcceptsPostponed};

}  // namespace bloomring::metric

namespace bloomring {

// Monotonic.
// Threading: thread safe.
struct ConnectionCounters {
  std::atomic<uint64_t> accepted{0};             // Given to gRPC.
  std::atomic<uint64_t> refused_descriptors{0};  // Closed at once: too few descriptors were left...
  std::atomic<uint64_t> refused_memory{0};       // ...or too many connections were open.
  std::atomic<uint64_t> ended{0};                // To make room for those of other hosts.
  std::atomic<uint64_t> postponed{0};            // Attempts that failed, to be repeated.
};

inline const SeriesTable<ConnectionCounters>& connection_series() {
  static const SeriesTable<ConnectionCounters> kTable = {
      {&metric::kConnectionsRefused, {"descriptors"}, &ConnectionCounters::refused_descriptors},
      {&metric::kConnectionsRefused, {"memory"}, &ConnectionCounters::refused_memory},
      {&metric::kConnectionsEnded, {}, &ConnectionCounters::ended},
      {&metric::kAcceptsPostponed, {}, &ConnectionCounters::postponed},
  };
  return kTable;
}

}  // namespace bloomring
