#include "pipeline/serve_stage.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/metric_names.h"
#include "pipeline/wait.h"
#include "serving/peer_addresses.h"

namespace bloomring {

namespace {
constexpr int64_t kReportIntervalMs = 250;
constexpr int64_t kCallGraceMs = 2'000;
constexpr int64_t kLookupBoundMs = 30'000;
constexpr int64_t kLogEndIntervalMs = 1'000;
constexpr int kLogEndTimeoutMs = 2'000;
}  // namespace

ServeStage::ServeStage(const StageContext& context)
    : context_(context),
      placement_{context.settings.serve.replica_index, context.settings.serve.replica_count,
                 context.settings.serve.replication_factor},
      levels_(context.metrics, "serve"),
      catch_up_("serve", context.clock, context.metrics),
      verdicts_counted_(kReasonCount) {}

Status ServeStage::start() {
  context_.health.set_not_ready("serve", "catching up with the log");
  BLOOMRING_TRY(assign_partitions().with_context("serve"));
  worker_ = std::make_unique<Worker>(
      "serve", context_.clock, [this](const Status& status) { context_.on_failure("serve", status); },
      &context_.watchdog);
  BLOOMRING_TRY(open_log().with_context("serve"));
  BLOOMRING_TRY(serve_calls().with_context("serve"));
  registration_ = context_.metrics.on_scrape([this](Scrape& scrape) { write(scrape); });
  worker_->set_ticker(kReportIntervalMs, [this] { report(); });
  worker_->post([this] {
    const std::string& topic = context_.settings.topics.user_events;
    for (auto& task : tasks_) worker_->add(*task, "serve " + kafka::to_string({topic, task->held().id()}));
  });
  enquirer_ = std::make_unique<Worker>("serve-ends", context_.clock, [](const Status&) {});
  enquirer_->set_ticker(kLogEndIntervalMs, [this] {
    if (const Status polled = consumer_->poll(0); !polled.ok()) context_.on_failure("serve", polled);
    ask_log_ends();
  });
  return {};
}

// Where recent plays of the partition begin: everything below is merged, or lost.
Result<MergedWatermark> ServeStage::merged_of(PartitionId partition, Offset log_start) {
  auto watermark = context_.filters->read_watermark(partition);
  if (watermark.code() != Code::kRetry) BLOOMRING_TRY(watermark.status());
  const bool known = watermark.ok() && watermark->has_value();
  MergedWatermark merged =
      known ? **watermark : MergedWatermark{.offset = Offset(0), .hour = HourIndex(-1), .ahead = {}};
  if (known && merged.offset < log_start) {
    spdlog::warn(
        "serve {}: {} records from offset {} are not merged and no longer in the log; the window stage says what to do",
        kafka::to_string({context_.settings.topics.user_events, partition}), log_start.value - merged.offset.value,
        merged.offset.value);
  }
  merged.offset = std::max(merged.offset, log_start);
  return merged;
}

Result<std::vector<ServeStage::Beginning>> ServeStage::decide_beginnings(const std::vector<PartitionId>& ids) {
  const Settings& settings = context_.settings;
  for (const PartitionId id : ids) partitions_.push_back({settings.topics.user_events, id});
  // The event time of what was served may be ahead of the time in the log.
  const int64_t oldest_ms =
      context_.clock.now_ms() - settings.served.max_age_ms() - context_.calendar.config().ahead_ms;
  // Brokers that have just started, or topics that were just made, need a moment.
  int64_t asked_at_ms = 0;
  std::vector<kafka::PartitionFacts> facts;
  std::vector<std::optional<Offset>> young;
  const std::string what = "the brokers to tell the ends of " + settings.topics.user_events;
  BLOOMRING_TRY(wait_until(context_.clock, kLookupBoundMs, what, [&]() -> Result<bool> {
    asked_at_ms = context_.clock.now_ms();
    auto asked = consumer_->facts(partitions_);
    if (asked.code() == Code::kRetry) return false;
    BLOOMRING_TRY_ASSIGN(facts, std::move(asked));
    auto by_time = consumer_->offsets_at(partitions_, oldest_ms);
    if (by_time.code() == Code::kRetry) return false;
    BLOOMRING_TRY_ASSIGN(young, std::move(by_time));
    return true;
  }));
  std::vector<Beginning> beginnings;
  for (size_t i = 0; i < ids.size(); ++i) {
    BLOOMRING_TRY_ASSIGN(const MergedWatermark merged, merged_of(ids[i], facts[i].log_start));
    const int64_t log_floor_ms = (merged.hour.value + 1) * settings.ring.slot_ms();
    const Offset read_from = std::max(facts[i].log_start, std::min(merged.offset, young[i].value_or(facts[i].log_end)));
    beginnings.push_back({partitions_[i], merged.offset, log_floor_ms, read_from, facts[i].log_end, asked_at_ms});
  }
  return beginnings;
}

// Without an answer the partitions grow old by themselves: see ReplicaTask.
void ServeStage::ask_log_ends() {
  const int64_t asked_at_ms = context_.clock.now_ms();
  auto ends = consumer_->log_ends(partitions_, kLogEndTimeoutMs);
  if (!ends.ok()) return spdlog::debug("serve: the end of the log is not known: {}", ends.status().to_string());
  worker_->post([this, asked_at_ms, ends = std::move(*ends)] {
    for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i]->hear_log_end(ends[i], asked_at_ms);
  });
}

Status ServeStage::assign_partitions() {
  const Settings& settings = context_.settings;
  const std::vector<PartitionId> ids = placement_.held(settings.topics.partitions);
  kafka::ClientSettings kafka = context_.kafka;
  kafka.queue_memory_bytes = context_.plan.of(MemoryUse::kServeQueue);
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::AssignedConsumer::create(kafka, ids.size(), context_.clock));
  BLOOMRING_TRY_ASSIGN(const std::vector<Beginning> beginnings, decide_beginnings(ids));
  std::vector<kafka::AssignedConsumer::Start> starts;
  for (const Beginning& begin : beginnings) starts.push_back({begin.partition, begin.read_from});
  BLOOMRING_TRY_ASSIGN(std::vector<std::unique_ptr<Source>> sources, consumer_->assign(starts));

  const size_t held_count = std::max<size_t>(1, ids.size());
  const RecentPlaysConfig recents{settings.ring.slot_ms(), context_.plan.of(MemoryUse::kRecentPlays) / held_count};
  const ServedItemsConfig served{settings.served.per_user_max, settings.served.max_age_ms(),
                                 context_.plan.of(MemoryUse::kServedItems) / held_count};
  const ReplicaTaskConfig config{settings.topics.partitions, settings.ring.lap_ms()};
  for (size_t i = 0; i < ids.size(); ++i) {
    const Beginning& begin = beginnings[i];
    auto held =
        std::make_shared<HeldPartition>(ids[i], recents, context_.calendar, begin.merged, served, begin.log_floor_ms);
    held_[ids[i]] = held;
    catch_up_.begin(ids[i], begin.read_from, begin.log_end);
    tasks_.push_back(std::make_unique<ReplicaTask>(config, held, *context_.filters, std::move(sources[i]),
                                                   begin.read_from, begin.log_end));
    tasks_.back()->hear_log_end(begin.log_end, begin.asked_at_ms);
  }
  counted_.resize(tasks_.size());
  return {};
}

Status ServeStage::open_log() {
  const TopicSettings& topics = context_.settings.topics;
  KafkaEventLogConfig config;
  config.topic = topics.user_events;
  config.partition_count = topics.partitions;
  config.memory_bytes = context_.plan.of(MemoryUse::kServedQueue);
  return wait_until(context_.clock, kLookupBoundMs, "the brokers to describe " + config.topic, [&]() -> Result<bool> {
    auto opened = KafkaEventLog::create(config, context_.kafka);
    if (opened.code() == Code::kRetry) return false;
    BLOOMRING_TRY_ASSIGN(log_, std::move(opened));
    return true;
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
  config.service.forward.tls = context_.settings.serve.peer_tls();
  config.service.observe = [this](const grpc::Status& status, double seconds) { observe(status, seconds); };
  Histogram& expected_error = context_.metrics.histogram(metric::kAnswerExpectedError);
  config.service.observe_answer = [&expected_error](const FilterAnswer& answer) {
    expected_error.observe(answer.expected_error);
  };
  BLOOMRING_TRY_ASSIGN(server_, GrpcServer::start(config, *this, *core_, log_.get()));
  return {};
}

void ServeStage::stop() {
  enquirer_.reset();
  if (!worker_) return;
  if (server_) {
    server_->set_serving(false);
    server_->shutdown(kCallGraceMs);
  }
  if (log_ && !log_->flush(kCallGraceMs).ok())
    spdlog::warn("serve: {} writes were not acknowledged", log_->in_flight());
  worker_->call([this] {
    for (auto& task : tasks_) worker_->remove(*task);
    report();
    tasks_.clear();
  });
  worker_.reset();
  registration_ = {};
  consumer_.reset();
  server_.reset();
  log_.reset();
}

std::shared_ptr<HeldPartition> ServeStage::find(PartitionId partition) const {
  const auto found = held_.find(partition);
  return found == held_.end() ? nullptr : found->second;
}

std::vector<std::string> ServeStage::holders(PartitionId partition) const {
  std::vector<std::string> addresses;
  for (const uint32_t index : placement_.holders(partition)) {
    std::string address = peer_address(context_.settings.serve.peers, index);
    if (index != placement_.index && !address.empty()) addresses.push_back(std::move(address));
  }
  return addresses;
}

void ServeStage::report() {
  Metrics& metrics = context_.metrics;
  size_t behind = 0;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    ReplicaTask& task = *tasks_[i];
    const ReplicaStats& now = task.stats();
    metrics.counter(metric::kServeRecords).add(now.blocks - counted_[i].blocks);
    metrics.counter(metric::kServeEvents).add(now.events - counted_[i].events);
    metrics.counter(metric::kStoreErrors, {"read"}).add(now.store_retries - counted_[i].store_retries);
    counted_[i] = now;
    catch_up_.note(task.held().id(), task.next(), now.events);
    levels_.set(context_.settings.topics.user_events, task.held().id(), {task.next(), Offset(-1), task.log_end()});
    for (const double delay : task.take_delays()) metrics.histogram(metric::kEventToSeen).observe(delay);
    behind += task.held().ready() ? 0 : 1;
  }
  const std::string to_go = catch_up_.tell();
  count_queries();
  metrics.gauge(metric::kStageReady, {"serve"}).set(behind == 0 ? 1 : 0);
  if (behind > 0) {
    context_.health.set_not_ready("serve", "catching up with the log: " + std::to_string(behind) + " of " +
                                               std::to_string(tasks_.size()) + " partitions to go" +
                                               (to_go.empty() ? "" : "; " + to_go));
  } else if (!serving_.exchange(true)) {
    context_.health.set_ready("serve");
    server_->set_serving(true);
  }
}

void ServeStage::observe(const grpc::Status& status, double seconds) {
  const bool failed =
      status.error_code() == grpc::StatusCode::INTERNAL || status.error_code() == grpc::StatusCode::UNKNOWN;
  const std::string_view result = status.ok() ? "ok" : failed ? "failed" : "refused";
  context_.metrics.histogram(metric::kQuerySeconds, {result}).observe(seconds);
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

uint64_t ServeStage::recent_plays() const {
  uint64_t plays = 0;
  for (const auto& [partition, held] : held_) plays += held->recents().stats().plays;
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

void ServeStage::write(Scrape& scrape) {
  if (server_) {
    write_calls(scrape, server_->counters());
    write_cache(scrape, core_->cache_stats());
  }
  size_t bytes = 0, served = 0, served_bytes = 0;
  for (const auto& [partition, held] : held_) {
    bytes += held->recents().stats().bytes;
    const ServedItemsStats stats = held->served().stats();
    served += stats.items;
    served_bytes += stats.bytes;
  }
  scrape.write(metric::kRecentEntries, {}, static_cast<double>(recent_plays()));
  scrape.write(metric::kRecentBytes, {}, static_cast<double>(bytes));
  scrape.write(metric::kServedEntries, {}, static_cast<double>(served));
  scrape.write(metric::kServedBytes, {}, static_cast<double>(served_bytes));
}

}  // namespace bloomring
