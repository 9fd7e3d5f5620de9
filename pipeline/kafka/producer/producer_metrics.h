// The metrics of the records that a process writes.
#pragma once

#include "base/metrics/series_table.h"
#include "pipeline/kafka/producer/producer_stats.h"

namespace bloomring::metric {

inline constexpr MetricDecl kProducerRecords{
    "bloomring_producer_records_total",
    MetricType::kCounter,
    "Records handed to the Kafka client of this process (blocks, batches, dead letters), by result.",
    {{{"result", "delivered|failed"}}}};
inline constexpr MetricDecl kProducerInFlight{
    "bloomring_producer_in_flight_records", MetricType::kGauge,
    "Records that the Kafka client has accepted and the brokers have not acknowledged yet."};

inline constexpr const MetricDecl* kProducerMetrics[] = {
    &kProducerRecords, &kProducerInFlight};

}  // namespace bloomring::metric

namespace bloomring {

inline SeriesTable<kafka::ProducerStats> producer_series() {
  using namespace metric;
  return {{&kProducerRecords, {"delivered"}, &kafka::ProducerStats::delivered},
          {&kProducerRecords, {"failed"}, &kafka::ProducerStats::failed},
          {&kProducerInFlight, {}, &kafka::ProducerStats::in_flight}};
}

}  // namespace bloomring
