// The metrics of the connections to brokers.
#pragma once

#include "base/metrics/series_table.h"
#include "pipeline/kafka/connections.h"

namespace bloomring::metric {

inline constexpr MetricDecl kBrokerConnections{
    "bloomring_broker_connections",
    MetricType::kGauge,
    "Connections that the Kafka clients of this process need, one from each client to each broker that it uses, by "
    "state, as the clients last reported.",
    {{{"state", "up|down"}}}};
inline constexpr MetricDecl kBrokerDisconnects{"bloomring_broker_disconnects_total", MetricType::kCounter,
                                               "Connections to brokers that ended, whichever side closed them."};
inline constexpr MetricDecl kBrokerRoundTrip{
    "bloomring_broker_round_trip_seconds", MetricType::kGauge,
    "Longest of the mean round trips of the connections to brokers, as the Kafka clients last reported."};

inline constexpr const MetricDecl* kBrokerMetrics[] = {
    &kBrokerConnections, &kBrokerDisconnects, &kBrokerRoundTrip};

}  // namespace bloomring::metric

namespace bloomring {

inline SeriesTable<kafka::Connections> broker_series() {
  using namespace metric;
  return {{&kBrokerConnections, {"up"}, &kafka::Connections::up},
          {&kBrokerConnections, {"down"}, &kafka::Connections::down},
          {&kBrokerDisconnects, {}, &kafka::Connections::disconnects},
          {&kBrokerRoundTrip, {}, &kafka::Connections::round_trip_seconds}};
}

}  // namespace bloomring
