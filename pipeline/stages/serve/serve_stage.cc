#include "pipeline/stages/serve/serve_stage.h"

#include <algorithm>

#include "base/log.h"
#include "pipeline/metrics/partition_series.h"
#include "pipeline/metrics/query_latency.h"
#include "pipeline/runtime/wait.h"
#include "pipeline/status/stage_metrics.h"
#include "pipeline/tasks/replica_metrics.h"
#include "serving/query/peer_addresses.h"
#include "serving/server/port_probe.h"
#include "serving/service/call_metrics.h"
#include "state/store/store_metrics.h"

namespace bloomring {

namespace {
constexpr int64_t kReportIntervalMs = 250;
// Longer than a call waits for the log (FilterServiceConfig::log_wait_ms).
constexpr int64_t kCallGraceMs = 6'000;
constexpr int64_t kFlushMs = 2'000;
constexpr int64_t kTendIntervalMs = 1'000;
constexpr int64_t kAskPortIntervalMs = 5'000;
constexpr int64_t kAskPortPatienceMs = 2'000;
constexpr int64_t kDeafLeastMs = 4 * kAskPortIntervalMs;  // Of one question the machine may be the cause.
// How long a partition that cannot be read keeps the process not ready.
constexpr int64_t kWaitingPatienceNs = 30'000'000'000;
}  // namespace

ServeStage::ServeStage(const StageContext& context)
    : context_(context),
      placement_{context.settings.serve.replica_index, context.settings.serve.replica_count,
                 context.settings.serve.replication_factor} {}

void ServeStage::claim(const Settings& settings, const PartitionCounts& counts, MemoryClaims& claims) {
  constexpr uint64_t kServedQueueLeast = 8 * kMiB, kServedQueueMost = 64 * kMiB;
  constexpr uint64_t kRecentLeast = 1 * kMiB, kServedLeast = kMiB / 2;
  constexpr uint64_t kFilterCacheLeast = 8 * kMiB;
  constexpr uint64_t kCallsLeast = 12 * kMiB, kCallsMost = 256 * kMiB;
  constexpr uint64_t kRequestsLeast = 7 * kMiB, kRequestsMost = 256 * kMiB;
  claims.push_back(queue_claim(MemoryUse::kServeQueue, "serve queue", counts.for_queries, 2));
  claims.push_back({MemoryUse::kServedQueue, "served queue", kServedQueueLeast, 1, kServedQueueMost});
  claims.push_back({MemoryUse::kRecentPlays, "recent plays", counts.for_queries * kRecentLeast, 6, kNoMost});
  claims.push_back({MemoryUse::kServedItems, "served items", counts.for_queries * kServedLeast, 2, kNoMost});
  claims.push_back({MemoryUse::kFilterCache, "filter cache", kFilterCacheLeast, 3, kNoMost});
  claims.push_back({MemoryUse::kCalls, "calls", kCallsLeast, 2, kCallsMost});
  claims.push_back({MemoryUse::kRequests, "requests", kRequestsLeast, 4, kRequestsMost});
  if (const MigrateSettings& old = settings.migrate; old.read_through) {
    const uint64_t bytes =
        uint64_t{old.read_through_users_max} * old.read_through_members_max * RedisOldPlays::kMemberBytes;
    claims.push_back({MemoryUse::kOldPlays, "old store", bytes, 0, bytes});
  }
}

Status ServeStage::start() {
  context_.health.set_not_ready(context_.stage(), "catching up with the log");
  started_at_ns_ = context_.clock.steady_ns();
  worker_ = std::make_unique<Worker>(
      context_.stage(), context_.clock,
      [this](const Status& status) { context_.on_failure(context_.row.name, status); },
      &context_.watchdog);
  partitions_ =
      std::make_unique<ServePartitions>(context_, placement_.partitions(context_.settings.topics.partitions), *worker_);
  BLOOMRING_TRY(partitions_->open().with_context(context_.stage()));
  BLOOMRING_TRY(open_log().with_context(context_.stage()));
  BLOOMRING_TRY(serve_calls().with_context(context_.stage()));
  registration_ = context_.metrics.on_scrape([this](Scrape& scrape) { write(scrape); });
  worker_->set_ticker(kReportIntervalMs, [this] { report(); });
  log_ends_worker_ = std::make_unique<Worker>(context_.stage() + "-ends", context_.clock, [](const Status&) {});
  log_ends_worker_->set_ticker(kTendIntervalMs, [this] {
    if (access_) access_->refresh();
    if (const Status tended = partitions_->tend(); !tended.ok()) context_.on_failure(context_.row.name, tended);
  });
  if (context_.settings.canary.on()) start_canary();
  return {};
}

Status ServeStage::open_log() {
  const TopicSettings& topics = context_.settings.topics;
  KafkaEventLogConfig config;
  config.topic = topics.name(TopicRole::kUserEvents);
  config.partition_count = topics.partitions;
  config.memory_bytes = context_.plan.of(MemoryUse::kServedQueue);
  return context_.start_wait.until("the brokers to describe " + config.topic, [&]() -> Status {
    BLOOMRING_TRY_ASSIGN(log_, KafkaEventLog::create(config, context_.kafka, context_.clock));
    return {};
  });
}

Status ServeStage::serve_calls() {
  CandidateFilterConfig candidates;
  candidates.cache_bytes_max = context_.plan.of(MemoryUse::kFilterCache);
  core_ = std::make_unique<CandidateFilter>(*context_.stores.reader, context_.calendar, context_.clock, candidates);
  GrpcServerConfig config;
  config.listen = context_.settings.serve.listen;
  config.tls = context_.settings.serve.tls;
  config.reflection = context_.settings.serve.reflection;
  config.memory_bytes_max = context_.plan.of(MemoryUse::kCalls);
  config.calls_max = config.connections_max();
  config.service.memory_bytes_max = context_.plan.of(MemoryUse::kRequests);
  config.service.admission_wait_ms = context_.settings.serve.wait_ms;
  // gRPC counts the messages of waiting calls among those in transit. The rest is for connections and calls to come.
  config.service.waiting.bytes_max = config.memory_bytes_max / 4;
  config.service.slot_ms = context_.settings.ring.slot_ms();
  config.service.limits.candidates_max = context_.settings.serve.candidates_max;
  config.service.limits.batch_ids_max = context_.settings.serve.batch_ids_max;
  config.service.limits.message_bytes_max = context_.settings.serve.request_bytes_max;
  config.service.limits.scenes = context_.settings.events.scene_rules();
  config.service.forward.tls = context_.settings.serve.peer_tls();
  if (const std::string& list = context_.settings.serve.access_file; !list.empty()) {
    BLOOMRING_TRY_ASSIGN(access_, Access::open(list));
    config.service.access = access_.get();
  }
  if (const MigrateSettings& old = context_.settings.migrate; old.read_through) {
    BLOOMRING_TRY_ASSIGN(LegacyStore store, open_legacy(context_.settings));
    old_plays_ = std::make_unique<RedisOldPlays>(
        std::move(store),
        RedisOldPlaysConfig{context_.settings.filter.false_positive_rate, old.read_through_members_max,
                            old.read_through_users_max},
        context_.clock);
    config.service.read_through = {old_plays_.get(), old.read_through_timeout_ms};
  }
  config.service.observe = [latency = std::make_shared<QueryLatency>(context_.metrics)](  // Shared by copies.
                               Method method, const grpc::Status& status, double seconds) {
    latency->observe(method, status, seconds);
  };
  Histogram& expected_error = context_.metrics.histogram(metric::kAnswerExpectedError);
  config.service.observe_answer = [&expected_error](const FilterAnswer& answer) {
    expected_error.observe(answer.expected_error);
  };
  BLOOMRING_TRY_ASSIGN(server_, GrpcServer::start(config, *this, *core_, log_.get()));
  watch_port();
  return {};
}

void ServeStage::watch_port() {
  auto ask = [address = server_->address(), tls = context_.settings.serve.tls.enabled()] {
    return probe_port(address, tls, kAskPortPatienceMs);
  };
  const int64_t deaf_ms = std::max(int64_t{context_.settings.process.stall_seconds} * 1000, kDeafLeastMs);
  port_watch_ =
      std::make_unique<PortWatch>("serve port", std::move(ask), context_.clock, deaf_ms, context_.health);
  port_worker_ = std::make_unique<Worker>(context_.stage() + "-port", context_.clock, [](const Status&) {});
  port_worker_->set_ticker(kAskPortIntervalMs, [this] { port_watch_->look(); });
}

// It begins when the replica answers for its partitions.
void ServeStage::start_canary() {
  const Settings& settings = context_.settings;
  CanaryConfig config;
  config.name = std::to_string(settings.serve.replica_index);
  config.partitions = placement_.partitions(settings.topics.partitions);
  config.partition_count = settings.topics.partitions;
  config.interval_ms = int64_t{settings.canary.interval_seconds} * 1000;
  config.timeout_ms = int64_t{settings.canary.timeout_seconds} * 1000;
  canary_path_ = std::make_unique<ServiceCanaryPath>(
      settings.topics.plays().front(), settings.events.mapping(), context_.producer,
      canary_client(settings.canary.server.empty() ? server_->address() : settings.canary.server,
                    settings.serve.tls.enabled() ? settings.serve.peer_tls() : TlsClientFiles()));
  config.scene = canary_path_->scene();
  canary_ = std::make_unique<Canary>(config, *canary_path_, context_.clock, context_.metrics);
  canary_worker_ = std::make_unique<Worker>(context_.stage() + "-canary", context_.clock, [](const Status&) {});
  canary_worker_->set_ticker(Canary::kTickMs, [this] {
    if (serving_) canary_->step();
  });
}

void ServeStage::begin_stop() {
  if (!server_) return;
  server_->announce_end();
  const int64_t drain_seconds = serving_ ? context_.settings.serve.drain_seconds : 0;
  drained_at_ns_ = context_.clock.steady_ns() + drain_seconds * 1'000'000'000;
  if (drain_seconds > 0)
    log_info("serve answers calls for a while, and tells health checks that it ends",
             {{"stage", context_.row.name}, {"seconds", drain_seconds}});
}

void ServeStage::stop(StopMode) {
  if (!worker_) return;
  canary_worker_.reset();
  if (const int64_t left_ms = (drained_at_ns_ - context_.clock.steady_ns()) / 1'000'000; left_ms > 0)
    static_cast<void>(wait_until(context_.clock, left_ms, "the drain", [] { return false; }));
  log_ends_worker_.reset();
  port_worker_.reset();
  if (server_) server_->shutdown(kCallGraceMs);
  if (log_ && !log_->flush(kFlushMs).ok())
    log_warning("serve: writes were not acknowledged", {{"stage", context_.row.name}, {"writes", log_->in_flight()}});
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
  const ServePartitions::Readiness readiness = partitions_->report();
  report_readiness(readiness);
}

void ServeStage::report_readiness(const ServePartitions::Readiness& readiness) {
  const size_t all = readiness.ready + readiness.catching_up + readiness.waiting;
  const bool patient = context_.clock.steady_ns() - started_at_ns_ < kWaitingPatienceNs;
  const std::string of_all = " of " + std::to_string(all) + " partitions";
  std::string lacking;
  if (readiness.waiting > 0)
    lacking = std::to_string(readiness.waiting) + of_all + " cannot be answered for: " + readiness.why;
  context_.metrics.gauge(metric::kStageReady, {context_.row.name}).set(readiness.ready == all ? 1 : 0);
  if (readiness.catching_up > 0 && !serving_) {
    std::string why = "catching up with the log: " + std::to_string(readiness.catching_up) + of_all + " to go";
    for (const std::string& more : {readiness.to_go, lacking}) why += more.empty() ? "" : "; " + more;
    context_.health.set_not_ready(context_.stage(), why);
  } else if (readiness.waiting > 0 && ((!serving_ && patient) || readiness.ready == 0)) {
    context_.health.set_not_ready(context_.stage(), lacking);
  } else {
    context_.health.set_ready(context_.stage(), lacking);
    if (!serving_.exchange(true)) server_->set_serving(true);
  }
}

StageStatus ServeStage::status() const {
  StageStatus status{.stage = context_.stage(), .address = server_ ? server_->address() : ""};
  if (!partitions_) return status;
  status.partitions = partitions_->status();
  status.numbers["recent_plays"] = static_cast<double>(recent_plays());
  return status;
}

uint64_t ServeStage::recent_plays() const {
  uint64_t plays = 0;
  partitions_->for_each([&](const ReplicaPartition& partition) { plays += partition.recents().stats().plays; });
  return plays;
}

void ServeStage::write_calls(Scrape& scrape) const {
  write_all(scrape, call_series(), server_->counters());
  write_all(scrape, place_series(), server_->places());
  write_all(scrape, connection_series(), server_->connections());
  write_all(scrape, cache_series(), core_->cache_stats());
  scrape.write(metric::kReadsRefused, {}, static_cast<double>(server_->reads_refused()));
  scrape.write(metric::kFilterCacheBytesMax, {}, static_cast<double>(context_.plan.of(MemoryUse::kFilterCache)));
}

void ServeStage::write_memory(Scrape& scrape) const {
  static const SeriesTable<ReplicaMemory> kTable = replica_memory_series();
  std::vector<double> sums(kTable.size());
  PartitionSeries series(scrape, context_.settings.metrics.per_partition);
  partitions_->for_each([&](const ReplicaPartition& partition) {
    const ReplicaMemory memory{partition.recents().stats(), partition.served().stats()};
    for (size_t row = 0; row < kTable.size(); ++row) sums[row] += kTable[row].number(memory);
    if (!partition.ready()) return;
    const auto from = static_cast<double>(memory.recent.recent_from.value);
    series.write(metric::kRecentFromOffset, partition.id(), from, Fold::kSum);
  });
  for (size_t row = 0; row < kTable.size(); ++row)
    scrape.write_series(*kTable[row].decl, kTable[row].labels, sums[row]);
}

void ServeStage::write(Scrape& scrape) {
  if (server_) write_calls(scrape);
  // With the merge stage in the process, that stage writes these.
  if (store_role(context_.settings.stages) != StoreRole::kWrites)
    write_all(scrape, store_reader_series(), context_.stores.admin->stats());
  write_memory(scrape);
}

}  // namespace bloomring
