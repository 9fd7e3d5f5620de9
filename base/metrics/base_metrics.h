// The metrics that every process has, whatever it does: its log lines and what the kernel says of it.
#pragma once

#include "base/metrics/metric_decl.h"

namespace bloomring::metric {

inline constexpr MetricDecl kLogMessages{"bloomring_log_messages_total",
                                         MetricType::kCounter,
                                         "Log lines by level, written or not.",
                                         {{{"level", "debug|info|warning|error"}}}};
inline constexpr MetricDecl kProcessCpu{"process_cpu_seconds_total", MetricType::kCounter,
                                        "User and system CPU time of the process in seconds."};
inline constexpr MetricDecl kProcessResident{"process_resident_memory_bytes", MetricType::kGauge,
                                             "Resident memory of the process in bytes."};
inline constexpr MetricDecl kProcessVirtual{"process_virtual_memory_bytes", MetricType::kGauge,
                                            "Virtual memory of the process in bytes."};
inline constexpr MetricDecl kProcessFds{"process_open_fds", MetricType::kGauge,
                                        "Open file descriptors of the process."};
inline constexpr MetricDecl kProcessFdsMax{"process_max_fds", MetricType::kGauge,
                                           "Most file descriptors the process may open."};
inline constexpr MetricDecl kProcessStart{"process_start_time_seconds", MetricType::kGauge,
                                          "Start of the process in seconds since 1970-01-01 UTC."};

inline constexpr const MetricDecl* kBaseMetrics[] = {
    &kLogMessages, &kProcessCpu, &kProcessResident, &kProcessVirtual, &kProcessFds, &kProcessFdsMax, &kProcessStart};

}  // namespace bloomring::metric
