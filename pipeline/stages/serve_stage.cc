#include "pipeline/stages/serve_stage.h"

#include <algorithm>

#include "base/log.h"
#include "base/metrics/metric_names.h"
#include "pipeline/metrics/query_latency.h"
#include "pipeline/runtime/wait.h"
#include "serving/query/peer_addresses.h"

namespace bloomring {

namespace {
constexpr int64_t kReportIntervalMs = 250;
// Longer than a call waits for the log (FilterServiceConfig::log_wait_ms).
constexpr int64_t kCallGraceMs = 6'000;
constexpr int64_t kFlushMs = 2'000;
constexpr int64_t kTendIntervalMs = 1'000;
// How long a partition that cannot be read keeps the process not ready.
constexpr int64_t kWaitingPatienceNs = 30'000'000'000;
}  // namespace

ServeStage::ServeStage(const StageContext& context)
    : context_(context),
      placement_{context.settings.serve.replica_index, context.settings.serve.replica_count,
                 context.settings.serve.replication_factor},
      verdicts_counted_(kReasonCount) {}

void ServeStage::claim(const Settings&, const PartitionCounts& counts, MemoryClaims& claims) {
  constexpr uint64_t kServedQueueLeast = 8 * kMiB, kServedQueueMost = 64 * kMiB;
  constexpr uint64_t kRecentLeast = 1 * kMiB, kServedLeast = kMiB / 2;
  constexpr uint64_t kFilterCacheLeast = 8 * kMiB;
  constexpr uint64_t kCallsLeast = 16 * kMiB, kCallsMost = 128 * kMiB;
  claims.push_back(queue_claim(MemoryUse::kServeQueue, "serve queue", counts.held, 2));
  claims.push_back({MemoryUse::kServedQueue, "served queue", kServedQueueLeast, 1, kServedQueueMost});
  claims.push_back({MemoryUse::kRecentPlays, "recent plays", counts.held * kRecentLeast, 6, kNoMost});
  claims.push_back({MemoryUse::kServedItems, "served items", counts.held * kServedLeast, 2, kNoMost});
  claims.push_back({MemoryUse::kFilterCache, "filter cache", kFilterCacheLeast, 3, kNoMost});
  claims.push_back({MemoryUse::kCalls, "calls", kCallsLeast, 1, kCallsMost});
}

Status ServeStage::start() {
  context_.health.set_not_ready("serve", "catching up with the log");
  started_at_ns_ = context_.clock.steady_ns();
  worker_ = std::make_unique<Worker>(
      "serve", context_.clock, [this](const Status& status) { context_.on_failure("serve", status); },
      &context_.watchdog);
  partitions_ =
      std::make_unique<ServePartitions>(context_, placement_.held(context_.settings.topics.partitions), *worker_);
  BLOOMRING_TRY(partitions_->open().with_context("serve"));
  BLOOMRING_TRY(open_log().with_context("serve"));
  BLOOMRING_TRY(serve_calls().with_context("serve"));
  registration_ = context_.metrics.on_scrape([this](Scrape& scrape) { write(scrape); });
  worker_->set_ticker(kReportIntervalMs, [this] { report(); });
  log_ends_worker_ = std::make_unique<Worker>("serve-ends", context_.clock, [](const Status&) {});
  log_ends_worker_->set_ticker(kTendIntervalMs, [this] {
    if (const Status tended = partitions_->tend(); !tended.ok()) context_.on_failure("serve", tended);
  });
  return {};
}

Status ServeStage::open_log() {
  const TopicSettings& topics = context_.settings.topics;
  KafkaEventLogConfig config;
  config.topic = topics.user_events;
  config.partition_count = topics.partitions;
  config.memory_bytes = context_.plan.of(MemoryUse::kServedQueue);
  return context_.start_wait.until("the brokers to describe " + config.topic, [&]() -> Status {
    BLOOMRING_TRY_ASSIGN(log_, KafkaEventLog::create(config, context_.kafka));
    return {};
  });
}

Status ServeStage::serve_calls() {
  CandidateFilterConfig candidates;
  candidates.cache_bytes_max = context_.plan.of(MemoryUse::kFilterCache);
  core_ = std::make_unique<CandidateFilter>(*context_.filters, context_.calendar, context_.clock, candidates);
  GrpcServerConfig config;
  config.listen = context_.settings.serve.listen;
  config.tls = context_.settings.serve.tls;
  config.memory_bytes_max = context_.plan.of(MemoryUse::kCalls);
  config.service.slot_ms = context_.settings.ring.slot_ms();
  config.service.limits.candidates_max = context_.settings.serve.candidates_max;
  config.service.limits.batch_ids_max = context_.settings.serve.batch_ids_max;
  config.service.limits.message_bytes_max = context_.settings.serve.request_bytes_max;
  config.service.limits.scenes = context_.settings.events.scene_rules();
  config.service.forward.tls = context_.settings.serve.peer_tls();
  config.service.observe = [latency = std::make_shared<QueryLatency>(context_.metrics)](  // Shared by copies.
                               Method method, const grpc::Status& status, double seconds) {
    latency->observe(method, status, seconds);
  };
  Histogram& expected_error = context_.metrics.histogram(metric::kAnswerExpectedError);
  config.service.observe_answer = [&expected_error](const FilterAnswer& answer) {
    expected_error.observe(answer.expected_error);
  };
  BLOOMRING_TRY_ASSIGN(server_, GrpcServer::start(config, *this, *core_, log_.get()));
  return {};
}

void ServeStage::begin_stop() {
  if (!server_) return;
  server_->announce_end();
  const int64_t drain_seconds = serving_ ? context_.settings.serve.drain_seconds : 0;
  drained_at_ns_ = context_.clock.steady_ns() + drain_seconds * 1'000'000'000;
  if (drain_seconds > 0)
    log_info("serve answers calls for a while, and tells health checks that it ends",
             {{"stage", "serve"}, {"seconds", drain_seconds}});
}

void ServeStage::stop(StopMode) {
  if (!worker_) return;
  if (const int64_t left_ms = (drained_at_ns_ - context_.clock.steady_ns()) / 1'000'000; left_ms > 0)
    static_cast<void>(wait_until(context_.clock, left_ms, "the drain", [] { return false; }));
  log_ends_worker_.reset();
  if (server_) server_->shutdown(kCallGraceMs);
  if (log_ && !log_->flush(kFlushMs).ok())
    log_warning("serve: writes were not acknowledged", {{"stage", "serve"}, {"writes", log_->in_flight()}});
  worker_->call([this] {
    if (!partitions_) return;
    if (server_) report();
    partitions_->close();
  });
  registration_ = {};
  worker_.reset();
  server_.reset();
  partitions_.reset();
  log_.reset();
}

std::shared_ptr<ReplicaPartition> ServeStage::find(PartitionId partition) const { return partitions_->find(partition); }

std::vector<std::string> ServeStage::holders(PartitionId partition) const {
  std::vector<std::string> addresses;
  for (const uint32_t index : placement_.holders(partition)) {
    std::string address = peer_address(context_.settings.serve.peers, index);
    if (index != placement_.index && !address.empty()) addresses.push_back(std::move(address));
  }
  return addresses;
}

AllScenes ServeStage::scenes() const { return partitions_->scenes(); }

void ServeStage::report() {
  const ServePartitions::Standing standing = partitions_->report();
  count_queries();
  report_standing(standing);
}

void ServeStage::report_standing(const ServePartitions::Standing& standing) {
  const size_t all = standing.ready + standing.catching_up + standing.waiting;
  const bool patient = context_.clock.steady_ns() - started_at_ns_ < kWaitingPatienceNs;
  const std::string of_all = " of " + std::to_string(all) + " partitions";
  std::string lacking;
  if (standing.waiting > 0)
    lacking = std::to_string(standing.waiting) + of_all + " cannot be answered for: " + standing.why;
  context_.metrics.gauge(metric::kStageReady, {"serve"}).set(standing.ready == all ? 1 : 0);
  if (standing.catching_up > 0 && !serving_) {
    std::string why = "catching up with the log: " + std::to_string(standing.catching_up) + of_all + " to go";
    for (const std::string& more : {standing.to_go, lacking}) why += more.empty() ? "" : "; " + more;
    context_.health.set_not_ready("serve", why);
  } else if (standing.waiting > 0 && ((!serving_ && patient) || standing.ready == 0)) {
    context_.health.set_not_ready("serve", lacking);
  } else {
    context_.health.set_ready("serve", lacking);
    if (!serving_.exchange(true)) server_->set_serving(true);
  }
}

void ServeStage::count_queries() {
  const ServingCounters& counters = server_->counters();
  for (size_t i = 0; i < kReasonCount; ++i) {
    const uint64_t now = counters.verdicts[i].load();
    context_.metrics.counter(metric::kCandidates, {reason_name(static_cast<Reason>(i))})
        .add(now - verdicts_counted_[i]);
    verdicts_counted_[i] = now;
  }
}

StageStatus ServeStage::status() const {
  StageStatus status{"serve", server_ ? server_->address() : "", {}, {}};
  if (!partitions_) return status;
  status.partitions = partitions_->status();
  status.numbers["recent_plays"] = static_cast<double>(recent_plays());
  return status;
}

uint64_t ServeStage::recent_plays() const {
  uint64_t plays = 0;
  partitions_->for_each([&](const ReplicaPartition& held) { plays += held.recents().stats().plays; });
  return plays;
}

void ServeStage::write_calls(Scrape& scrape, const ServingCounters& counters) {
  const auto number = [](const auto& counter) { return static_cast<double>(counter.load()); };
  scrape.write(metric::kCallsInFlight, {}, number(counters.in_flight));
  scrape.write(metric::kCallsRefused, {"invalid"}, number(counters.refused_invalid));
  scrape.write(metric::kCallsRefused, {"unavailable"}, number(counters.refused_unavailable));
  scrape.write(metric::kCallsRefused, {"overload"}, number(counters.refused_overload));
  scrape.write(metric::kCallsRefused, {"deadline"}, number(counters.refused_deadline));
  scrape.write(metric::kCallsRefused, {"strict"}, number(counters.refused_strict));
  scrape.write(metric::kCallsForwarded, {"answered"}, number(counters.forwarded));
  scrape.write(metric::kCallsForwarded, {"unavailable"}, number(counters.forward_failed));
  for (const AnswerSource source : {AnswerSource::kRecent, AnswerSource::kServed, AnswerSource::kFilters}) {
    scrape.write(metric::kAnswersIncomplete, {source_name(source)},
                 number(counters.incomplete[static_cast<size_t>(source)]));
  }
  scrape.write(metric::kAnswersComplete, {"known"}, number(counters.complete_known));
  scrape.write(metric::kAnswersComplete, {"unknown"}, number(counters.complete_unknown));
  scrape.write(metric::kAnswersRelaxed, {}, number(counters.relaxed));
  scrape.write(metric::kAnswersSaturated, {}, number(counters.saturated));
}

void ServeStage::write_cache(Scrape& scrape, const FilterCacheStats& cache) const {
  scrape.write(metric::kFilterCacheLookups, {"hit"}, static_cast<double>(cache.hits));
  scrape.write(metric::kFilterCacheLookups, {"miss"}, static_cast<double>(cache.misses));
  scrape.write(metric::kFilterCacheLookups, {"stale"}, static_cast<double>(cache.stale));
  scrape.write(metric::kFilterCacheEvictions, {}, static_cast<double>(cache.evictions));
  scrape.write(metric::kFilterCacheUsers, {}, static_cast<double>(cache.entries));
  scrape.write(metric::kFilterCacheBytes, {}, static_cast<double>(cache.bytes));
  scrape.write(metric::kFilterCacheBytesMax, {}, static_cast<double>(context_.plan.of(MemoryUse::kFilterCache)));
}

// Only without the merge stage, which writes the same series.
void ServeStage::write_store(Scrape& scrape) const {
  const FilterStoreStats store = context_.filters->stats();
  scrape.write(metric::kStoreRefused, {}, static_cast<double>(store.refused));
  scrape.write(metric::kStoreTableFiles, {}, static_cast<double>(store.table_files));
  scrape.write(metric::kStoreOpenFilesMax, {}, static_cast<double>(store.open_files_max));
}

void ServeStage::write(Scrape& scrape) {
  if (server_) {
    write_calls(scrape, server_->counters());
    write_cache(scrape, core_->cache_stats());
  }
  if (store_role(context_.settings.stages) != StoreRole::kWrites) write_store(scrape);
  size_t bytes = 0, over_bound = 0, served_users = 0, served = 0, served_bytes = 0;
  uint64_t forgets = 0;
  partitions_->for_each([&](const ReplicaPartition& held) {
    const RecentPlaysStats recent = held.recents().stats();
    bytes += recent.bytes;
    forgets += recent.forgets;
    over_bound += recent.over_bound ? 1 : 0;
    const ServedItemsStats stats = held.served().stats();
    served_users += stats.users;
    served += stats.items;
    served_bytes += stats.bytes;
  });
  scrape.write(metric::kRecentForgets, {}, static_cast<double>(forgets));
  scrape.write(metric::kRecentOverBound, {}, static_cast<double>(over_bound));
  scrape.write(metric::kServedUsers, {}, static_cast<double>(served_users));
  scrape.write(metric::kRecentEntries, {}, static_cast<double>(recent_plays()));
  scrape.write(metric::kRecentBytes, {}, static_cast<double>(bytes));
  scrape.write(metric::kServedEntries, {}, static_cast<double>(served));
  scrape.write(metric::kServedBytes, {}, static_cast<double>(served_bytes));
}

}  // namespace bloomring
