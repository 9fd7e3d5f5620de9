// The metrics of a filter store on servers of the Redis protocol.
#pragma once

#include "base/metrics/series_table.h"
#include "state/store/redis/redis_store_parts.h"

namespace bloomring::metric {

inline constexpr MetricDecl kRedisRequests{"bloomring_redis_requests_total", MetricType::kCounter,
                                           "Requests to the servers of the filter store."};
inline constexpr MetricDecl kRedisSeconds{
    "bloomring_redis_request_seconds_total", MetricType::kCounter,
    "Time of all answered requests to the servers of the filter store together; divided by the requests, their mean."};
inline constexpr MetricDecl kRedisFailed{"bloomring_redis_failed_requests_total", MetricType::kCounter,
                                         "Requests that no server answered in their time."};
inline constexpr MetricDecl kRedisRedirects{"bloomring_redis_redirects_total", MetricType::kCounter,
                                            "Requests that a server of the cluster sent to another one."};
inline constexpr MetricDecl kRedisTriedAgain{
    "bloomring_redis_tried_again_total", MetricType::kCounter,
    "Requests that were sent again: a connection broke, or a server could not answer then."};
inline constexpr MetricDecl kRedisConnects{"bloomring_redis_connections_total",
                                           MetricType::kCounter,
                                           "Connections to servers of the filter store.",
                                           {{{"event", "opened|broken"}}}};
inline constexpr MetricDecl kRedisBytes{"bloomring_redis_bytes_total",
                                        MetricType::kCounter,
                                        "Bytes to and from the servers of the filter store.",
                                        {{{"direction", "sent|received"}}}};
inline constexpr MetricDecl kRedisConflicts{
    "bloomring_redis_conflicts_total", MetricType::kCounter,
    "Values that somebody changed between read and write; they were read and united again."};
inline constexpr MetricDecl kRedisUnchanged{"bloomring_redis_unchanged_total", MetricType::kCounter,
                                            "Unions that added nothing and were not written."};
inline constexpr MetricDecl kRedisWriteWindow{
    "bloomring_redis_write_window", MetricType::kGauge,
    "Writes of filters that may be under way to the servers at once, and one of each partition beyond them: more while "
    "they answer quickly, half as many after a slow answer."};
inline constexpr MetricDecl kRedisBehind{
    "bloomring_redis_reads_behind_total", MetricType::kCounter,
    "Reads of a shard that is behind the merged watermark, of a replica or after a failover: the primary was asked, or "
    "the answer has a gap."};
inline constexpr MetricDecl kRedisHedges{
    "bloomring_redis_hedges_total",
    MetricType::kCounter,
    "Second questions of reads (store.redis.hedge_after_ms): asked; answered first, and so taken; by a replica that is "
    "behind the merged watermark, and so not taken; withheld, because store.redis.hedge_percent was reached.",
    {{{"event", "asked|first|behind|withheld"}}}};
inline constexpr MetricDecl kRedisAside{
    "bloomring_redis_put_aside_total", MetricType::kCounter,
    "Values of other programs under keys of the filter store, which were kept under another key. 0 when all is well; "
    "`bloomring store check` names them."};

inline constexpr const MetricDecl* kRedisMetrics[] = {
    &kRedisRequests, &kRedisSeconds,   &kRedisFailed,    &kRedisRedirects, &kRedisTriedAgain, &kRedisConnects,
    &kRedisBytes,    &kRedisConflicts, &kRedisUnchanged, &kRedisBehind,    &kRedisHedges,    &kRedisAside,
    &kRedisWriteWindow};

}  // namespace bloomring::metric

namespace bloomring {

inline SeriesTable<RedisStoreParts> redis_series() {
  using namespace metric;
  using Parts = RedisStoreParts;
  const auto number = [](const std::atomic<uint64_t>& count) { return static_cast<double>(count.load()); };
  return {{&kRedisRequests, {}, [=](const Parts& p) { return number(p.traffic.requests); }},
          {&kRedisSeconds, {}, [=](const Parts& p) { return number(p.traffic.nanoseconds) / 1e9; }},
          {&kRedisFailed, {}, [=](const Parts& p) { return number(p.traffic.failed); }},
          {&kRedisRedirects, {}, [=](const Parts& p) { return number(p.traffic.redirects); }},
          {&kRedisTriedAgain, {}, [=](const Parts& p) { return number(p.traffic.tried_again); }},
          {&kRedisConnects, {"opened"}, [=](const Parts& p) { return number(p.traffic.connects); }},
          {&kRedisConnects, {"broken"}, [=](const Parts& p) { return number(p.traffic.breaks); }},
          {&kRedisBytes, {"sent"}, [=](const Parts& p) { return number(p.traffic.bytes_sent); }},
          {&kRedisBytes, {"received"}, [=](const Parts& p) { return number(p.traffic.bytes_received); }},
          {&kRedisConflicts, {}, [=](const Parts& p) { return number(p.conflicts); }},
          {&kRedisUnchanged, {}, [=](const Parts& p) { return number(p.unchanged); }},
          {&kRedisWriteWindow, {}, [=](const Parts& p) { return static_cast<double>(p.pace.window()); }},
          {&kRedisBehind, {}, [=](const Parts& p) { return number(p.behind); }},
          {&kRedisHedges, {"asked"}, [](const Parts& p) { return static_cast<double>(p.hedges.asked()); }},
          {&kRedisHedges, {"first"}, [](const Parts& p) { return static_cast<double>(p.hedges.first()); }},
          {&kRedisHedges, {"behind"}, [](const Parts& p) { return static_cast<double>(p.hedges.behind()); }},
          {&kRedisHedges, {"withheld"}, [](const Parts& p) { return static_cast<double>(p.hedges.withheld()); }},
          {&kRedisAside, {}, [=](const Parts& p) { return number(p.put_aside); }}};
}

}  // namespace bloomring
