#include "pipeline/metrics/all_metrics.h"

#include <initializer_list>
#include <vector>

#include "base/metrics/base_metrics.h"
#include "pipeline/canary/canary_metrics.h"
#include "pipeline/kafka/broker_metrics.h"
#include "pipeline/kafka/consumer/group_metrics.h"
#include "pipeline/kafka/producer/producer_metrics.h"
#include "pipeline/metrics/pipeline_metrics.h"
#include "pipeline/runtime/runtime_metrics.h"
#include "pipeline/shadow/shadow_metrics.h"
#include "pipeline/status/stage_metrics.h"
#include "pipeline/tasks/dead_letter_metrics.h"
#include "pipeline/tasks/ingest_metrics.h"
#include "pipeline/tasks/merge_metrics.h"
#include "pipeline/tasks/replica_metrics.h"
#include "pipeline/tasks/window_metrics.h"
#include "serving/server/connection_metrics.h"
#include "serving/service/call_metrics.h"
#include "state/rocksdb/rocks_metrics.h"
#include "state/store/redis/redis_metrics.h"
#include "state/store/store_metrics.h"

namespace bloomring::metric {

namespace {

using List = std::span<const MetricDecl* const>;

std::vector<const MetricDecl*> joined(std::initializer_list<List> lists) {
  std::vector<const MetricDecl*> all;
  for (const List list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

List all() {
  static const std::vector<const MetricDecl*> kAll =
      joined({kIngestMetrics, kDeadLetterMetrics, kWindowMetrics, kMergeMetrics, kReplicaMetrics, kCallMetrics,
              kStageMetrics, kGroupMetrics, kRuntimeMetrics, kStoreMetrics, kRedisMetrics, kRocksMetrics,
              kProducerMetrics, kBrokerMetrics, kPipelineMetrics, kBaseMetrics, kConnectionMetrics, kShadowMetrics,
              kCanaryMetrics});
  return kAll;
}

}  // namespace bloomring::metric
