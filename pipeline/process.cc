#include "pipeline/process.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/metric_names.h"
#include "pipeline/backup_json.h"
#include "pipeline/ingest_stage.h"
#include "pipeline/merge_stage.h"
#include "pipeline/serve_stage.h"
#include "pipeline/topic_check.h"
#include "pipeline/wait.h"
#include "pipeline/window_stage.h"
#include "state/embedded_filter_follower.h"
#include "state/embedded_filter_store.h"
#include "state/store_backup.h"

namespace bloomring {

namespace {

constexpr int64_t kRefreshIntervalMs = 250;
constexpr int64_t kStoreWaitMs = 60'000;
constexpr int kFlushTimeoutMs = 10'000;
// Of the filter store's own, a quarter of what all write buffers may take: the larger, the fewer bytes are written.
constexpr uint64_t kWriteBufferLeast = 4ull << 20;
constexpr uint64_t kWriteBufferMost = 64ull << 20;

}  // namespace

Process::Process(const Settings& settings, const Clock& clock)
    : settings_(settings),
      clock_(clock),
      watchdog_(clock, int64_t{settings.process.stall_seconds} * 1000, health_, metrics_),
      kafka_(client_settings(settings)) {}

Result<std::unique_ptr<Process>> Process::start(const Settings& settings, const Clock& clock) {
  std::unique_ptr<Process> process(new Process(settings, clock));
  BLOOMRING_TRY(process->open());
  return process;
}

Status Process::open() {
  BLOOMRING_TRY(check_runnable(settings_));
  BLOOMRING_TRY_ASSIGN(calendar_, Calendar::create(settings_.retention()));
  BLOOMRING_TRY(kafka::check(kafka_));
  BLOOMRING_TRY(plan());
  BLOOMRING_TRY_ASSIGN(producer_, kafka::Producer::create(kafka_));
  BLOOMRING_TRY(verify_topics());
  BLOOMRING_TRY(open_store());
  registration_ = metrics_.on_scrape([this](Scrape& scrape) { write_memory(scrape); });
  BLOOMRING_TRY_ASSIGN(admin_, AdminServer::start(settings_.admin.listen, admin_pages(metrics_, health_), actions_));
  return start_stages();
}

// Queues are made for the partitions that the topics of plays have, which may be more than we would make.
Status Process::plan() {
  std::optional<uint64_t> plays_partitions;
  if (settings_.runs(Stage::kIngest)) {
    BLOOMRING_TRY_ASSIGN(const std::unique_ptr<kafka::Admin> admin, kafka::Admin::create(kafka_));
    plays_partitions = count_plays_partitions(*admin, settings_);
  }
  const auto planned = plan_memory(settings_, plays_partitions);
  if (!planned.ok()) return invalid("memory.limit " + planned.status().message());
  plan_ = *planned;
  kafka_.send_memory_bytes = plan_->of(MemoryUse::kSendQueue);
  return {};
}

Status Process::verify_topics() {
  const auto partitions = static_cast<int32_t>(settings_.topics.partitions);
  BLOOMRING_TRY(producer_->verify_topic(settings_.topics.user_events, partitions));
  BLOOMRING_TRY(producer_->verify_topic(settings_.topics.user_batches, partitions));
  BLOOMRING_TRY(producer_->verify_topic(settings_.topics.dead, 0));
  return verify_topic_settings(settings_);
}

Status Process::open_store() {
  StateMemoryConfig memory;
  memory.cache_bytes = plan_->of(MemoryUse::kStores);
  memory.write_buffer_bytes = memory.cache_bytes / 2;
  memory_ = std::make_unique<StateMemory>(memory);
  if (!settings_.runs(Stage::kWindow) && !settings_.runs(Stage::kMerge) && !settings_.runs(Stage::kServe)) return {};

  EmbeddedFilterStoreConfig config;
  config.path = settings_.store.path;
  config.policy = {settings_.filter.false_positive_rate, settings_.filter.periods_read,
                   settings_.filter.dense_from_items};
  config.partition_count = settings_.topics.partitions;
  config.write_buffer_bytes = std::clamp<uint64_t>(memory.write_buffer_bytes / 4, kWriteBufferLeast, kWriteBufferMost);
  if (settings_.runs(Stage::kMerge)) {
    BLOOMRING_TRY_ASSIGN(auto store, EmbeddedFilterStore::open(config, *calendar_, clock_, *memory_));
    actions_["/store/backup"] = [this, writer = store.get()] { return back_up_store(*writer); };
    filters_ = std::move(store);
    return {};
  }
  BLOOMRING_TRY_ASSIGN(filters_, EmbeddedFilterFollower::follow(config, *calendar_, clock_, *memory_));
  BLOOMRING_TRY(
      wait_until(clock_, kStoreWaitMs,
                 "the filter store at " + config.path + "; it is made by the process that runs the merge stage",
                 [this]() -> Result<bool> {
                   const Status refreshed = filters_->refresh();
                   if (refreshed.ok() || refreshed.code() == Code::kRetry) return refreshed.ok();
                   return refreshed;
                 }));
  refresher_ = std::make_unique<Worker>(
      "store-follow", clock_, [](const Status&) {}, &watchdog_);
  refresher_->set_ticker(kRefreshIntervalMs, [this] {
    const Status refreshed = filters_->refresh();
    if (!refreshed.ok()) metrics_.counter(metric::kStoreErrors, {"refresh"}).add();
  });
  return {};
}

void Process::write_memory(Scrape& scrape) const {
  for (const MemoryPart& part : plan_->parts()) {
    scrape.write(metric::kMemoryPart, {part.name}, static_cast<double>(part.bytes));
  }
  scrape.write(metric::kStateMemory, {}, static_cast<double>(memory_->cache_used_bytes()));
}

AdminPage Process::back_up_store(EmbeddedFilterStore& store) {
  const std::unique_lock lock(backup_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {409, "text/plain; charset=utf-8", "a backup is under way\n"};
  if (settings_.store.backup_path.empty()) {
    return {409, "text/plain; charset=utf-8", "store.backup_path is not set in the configuration of this process\n"};
  }
  const StoreSettings& config = settings_.store;
  const auto taken = store.back_up({config.backup_path, config.backups_kept, config.backup_bytes_per_second});
  metrics_.counter(metric::kStoreBackups, {taken.ok() ? "ok" : "failed"}).add();
  if (!taken.ok()) {
    spdlog::error("no backup of the filter store: {}", taken.status().to_string());
    return {500, "text/plain; charset=utf-8", taken.status().message() + "\n"};
  }
  metrics_.gauge(metric::kStoreBackupTime).set(static_cast<double>(taken->time_ms) / 1000.0);
  spdlog::info("backup {} of the filter store: {} bytes, {} of them new", taken->id, taken->bytes, taken->bytes_new);
  return {200, "application/json", backup_json(*taken) + "\n"};
}

Status Process::start_stages() {
  context_ = std::make_unique<StageContext>(StageContext{
      settings_, *plan_, kafka_, *calendar_, clock_, metrics_, health_, watchdog_, *producer_, filters_.get(),
      memory_.get(), [this](std::string_view stage, const Status& status) { fail(stage, status); }});
  if (settings_.runs(Stage::kServe)) {
    serve_ = std::make_unique<ServeStage>(*context_);
    BLOOMRING_TRY(serve_->start());
  }
  if (settings_.runs(Stage::kMerge)) {
    merge_ = std::make_unique<MergeStage>(*context_);
    BLOOMRING_TRY(merge_->start());
  }
  if (settings_.runs(Stage::kWindow)) {
    window_ = std::make_unique<WindowStage>(*context_);
    BLOOMRING_TRY(window_->start());
  }
  if (settings_.runs(Stage::kIngest)) {
    ingest_ = std::make_unique<IngestStage>(*context_);
    BLOOMRING_TRY(ingest_->start());
  }
  for (const Stage stage : settings_.stages) metrics_.gauge(metric::kStageUp, {stage_name(stage)}).set(1);
  return {};
}

void Process::fail(std::string_view stage, const Status& status) {
  spdlog::error("{} cannot go on: {}", stage, status.to_string());
  health_.set_failed(std::string(stage), status.message());
  metrics_.gauge(metric::kStageUp, {stage}).set(0);
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = status;
}

std::optional<Status> Process::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

std::string Process::grpc_address() const { return serve_ ? serve_->address() : std::string(); }

std::string Process::ready_line() const {
  nlohmann::ordered_json line = {{"ready", true}, {"kafka", settings_.kafka.bootstrap}};
  if (serve_) line["grpc"] = serve_->address();
  line["admin"] = admin_->address();
  return line.dump();
}

uint64_t Process::recent_plays() const { return serve_ ? serve_->recent_plays() : 0; }

void Process::stop(Going going) {
  if (ingest_) ingest_->stop(going);
  if (window_) window_->stop(going);
  if (merge_) merge_->stop(going);
  if (serve_) serve_->stop();
  if (producer_) {
    const Status flushed = producer_->flush(kFlushTimeoutMs);
    if (!flushed.ok()) spdlog::warn("not everything was sent: {}; it is read again from the log", flushed.to_string());
  }
}

Process::~Process() {
  stop();
  refresher_.reset();
}

}  // namespace bloomring
