#include "pipeline/serve_stage.h"

#include <spdlog/spdlog.h>

#include "base/metric_names.h"
#include "pipeline/wait.h"
#include "serving/replica_placement.h"

namespace bloomring {

namespace {
constexpr int64_t kReportIntervalMs = 250;
constexpr int64_t kCallGraceMs = 2'000;
constexpr int64_t kLookupBoundMs = 30'000;
}  // namespace

ServeStage::ServeStage(const StageContext& context)
    : context_(context), levels_(context.metrics, "serve"), verdicts_counted_(kReasonCount) {}

Status ServeStage::start() {
  context_.health.set_not_ready("serve", "catching up with the log");
  BLOOMRING_TRY(assign_partitions().with_context("serve"));
  registration_ = context_.metrics.on_scrape([this](Scrape& scrape) { write(scrape); });
  worker_ = std::make_unique<Worker>("serve", context_.clock, [this](const Status& status) { context_.on_failure("serve", status); });
  BLOOMRING_TRY(serve_calls().with_context("serve"));
  worker_->set_ticker(kReportIntervalMs, [this] { report(); });
  worker_->post([this] {
    for (auto& task : tasks_) worker_->add(*task);
  });
  return {};
}

Status ServeStage::assign_partitions() {
  const Settings& settings = context_.settings;
  const ReplicaPlacement placement{settings.serve.replica_index, settings.serve.replica_count, settings.serve.replication_factor};
  const std::vector<PartitionId> ids = placement.held(settings.topics.partitions);
  std::vector<kafka::TopicPartition> partitions;
  for (const PartitionId id : ids) partitions.push_back({settings.topics.user_events, id});
  BLOOMRING_TRY_ASSIGN(consumer_, kafka::AssignedConsumer::create(context_.kafka, partitions.size()));
  // Brokers that have just started, or topics that were just made, need a moment.
  std::vector<kafka::PartitionFacts> facts;
  BLOOMRING_TRY(wait_until(context_.clock, kLookupBoundMs, "the brokers to tell the ends of " + settings.topics.user_events, [&]() -> Result<bool> {
    auto asked = consumer_->facts(partitions);
    if (asked.code() == Code::kRetry) return false;
    if (!asked.ok()) return asked.status();
    facts = std::move(*asked);
    return true;
  }));

  std::vector<kafka::AssignedConsumer::Start> starts;
  for (size_t i = 0; i < ids.size(); ++i) {
    auto watermark = context_.filters->read_watermark(ids[i]);
    if (watermark.code() != Code::kRetry) BLOOMRING_TRY(watermark.status());
    const bool known = watermark.ok() && watermark->has_value();
    const Offset merged = known ? (*watermark)->offset : Offset(0);
    if (known && merged < facts[i].log_start) {
      spdlog::warn("serve {}: {} records from offset {} are not merged and no longer in the log; the window stage says what to do",
                   kafka::to_string(partitions[i]), facts[i].log_start.value - merged.value, merged.value);
    }
    starts.push_back({partitions[i], std::max(merged, facts[i].log_start)});
  }
  BLOOMRING_TRY_ASSIGN(std::vector<std::unique_ptr<Source>> sources, consumer_->assign(starts));

  const RecentPlaysConfig recents{settings.ring.slot_ms(), settings.serve.recent_bytes_max / std::max<size_t>(1, ids.size())};
  const ReplicaTaskConfig config{settings.topics.partitions, settings.ring.lap_ms()};
  for (size_t i = 0; i < ids.size(); ++i) {
    auto held = std::make_shared<HeldPartition>(ids[i], recents, context_.calendar, starts[i].offset);
    held_[ids[i]] = held;
    tasks_.push_back(std::make_unique<ReplicaTask>(config, held, *context_.filters, std::move(sources[i]), starts[i].offset, facts[i].log_end));
  }
  counted_.resize(tasks_.size());
  return {};
}

Status ServeStage::serve_calls() {
  core_ = std::make_unique<CandidateFilter>(*context_.filters, context_.calendar, context_.clock, CandidateFilterConfig{});
  GrpcServerConfig config;
  config.listen = context_.settings.serve.listen;
  config.service.limits.candidates_max = context_.settings.serve.candidates_max;
  config.service.observe = [this](const grpc::Status& status, double seconds) { observe(status, seconds); };
  BLOOMRING_TRY_ASSIGN(server_, GrpcServer::start(config, *this, *core_));
  return {};
}

void ServeStage::stop() {
  if (!worker_) return;
  if (server_) {
    server_->set_serving(false);
    server_->shutdown(kCallGraceMs);
  }
  worker_->call([this] {
    for (auto& task : tasks_) worker_->remove(*task);
    report();
    tasks_.clear();
  });
  worker_.reset();
  registration_ = {};
  consumer_.reset();
}

std::shared_ptr<HeldPartition> ServeStage::find(PartitionId partition) const {
  const auto found = held_.find(partition);
  return found == held_.end() ? nullptr : found->second;
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
    levels_.set(context_.settings.topics.user_events, task.held().id(), {task.next(), Offset(-1), task.log_end()});
    for (const double delay : task.take_delays()) metrics.histogram(metric::kEventToSeen).observe(delay);
    behind += task.held().ready() ? 0 : 1;
  }
  count_queries();
  metrics.gauge(metric::kStageReady, {"serve"}).set(behind == 0 ? 1 : 0);
  if (behind > 0) {
    context_.health.set_not_ready("serve", "catching up with the log: " + std::to_string(behind) + " of " + std::to_string(tasks_.size()) + " partitions to go");
  } else if (!serving_.exchange(true)) {
    context_.health.set_ready("serve");
    server_->set_serving(true);
  }
}

void ServeStage::observe(const grpc::Status& status, double seconds) {
  const bool failed = status.error_code() == grpc::StatusCode::INTERNAL || status.error_code() == grpc::StatusCode::UNKNOWN;
  const std::string_view result = status.ok() ? "ok" : failed ? "failed" : "refused";
  context_.metrics.histogram(metric::kQuerySeconds, {result}).observe(seconds);
}

void ServeStage::count_queries() {
  const ServingCounters& counters = server_->counters();
  for (size_t i = 0; i < kReasonCount; ++i) {
    const uint64_t now = counters.verdicts[i].load();
    context_.metrics.counter(metric::kCandidates, {reason_name(static_cast<Reason>(i))}).add(now - verdicts_counted_[i]);
    verdicts_counted_[i] = now;
  }
}

uint64_t ServeStage::recent_plays() const {
  uint64_t plays = 0;
  for (const auto& [partition, held] : held_) plays += held->recents().stats().plays;
  return plays;
}

void ServeStage::write(Scrape& scrape) {
  if (server_) scrape.write(metric::kAnswersSaturated, {}, static_cast<double>(server_->counters().saturated.load()));
  size_t bytes = 0;
  for (const auto& [partition, held] : held_) bytes += held->recents().stats().bytes;
  scrape.write(metric::kRecentEntries, {}, static_cast<double>(recent_plays()));
  scrape.write(metric::kRecentBytes, {}, static_cast<double>(bytes));
}

}  // namespace bloomring
