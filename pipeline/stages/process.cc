#include "pipeline/stages/process.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/log.h"
#include "base/running_log.h"
#include "base/version.h"
#include "pipeline/admin/admin_token.h"
#include "pipeline/admin/log_level_action.h"
#include "pipeline/metrics/process_metrics.h"
#include "pipeline/metrics/query_figures.h"
#include "pipeline/page/html_page.h"
#include "pipeline/page/page_style.h"
#include "pipeline/page/text_page.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/settings/process_identity.h"
#include "pipeline/settings/start_checks.h"
#include "pipeline/status/stage_metrics.h"
#include "pipeline/status/status_json.h"
#include "pipeline/stores/stored_slots.h"
#include "pipeline/topics/topic_check.h"
#include "state/store/store_metrics.h"

namespace bloomring {

namespace {

constexpr int64_t kRefreshIntervalMs = 250;
// The time for one attempt to reach the brokers at the start: short, so that a stop signal takes effect soon. A broker
// that is connected but slow has longer to answer.
constexpr int kReachTimeoutMs = 1'000;
constexpr int kSlowAnswerTimeoutMs = 5'000;
constexpr int kFlushTimeoutMs = 10'000;

// The operations page in each of its forms; the function makes the report. The page loads nothing, and no other page
// may show it in a frame.
void add_ops_pages(AdminPages& pages, const std::function<OpsReport()>& report) {
  const std::string guards = "Content-Security-Policy: " + page_policy() +
                             "\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer";
  constexpr const char* kHtml = "text/html; charset=utf-8";
  constexpr const char* kText = "text/plain; charset=utf-8";
  pages["/"] = [=] { return AdminPage{200, kHtml, html_page(report()), guards}; };
  pages["/?format=html"] = pages["/"];
  pages["/?format=text"] = [=] { return AdminPage{200, kText, text_page(report()), guards}; };
  pages["/?format=json"] = [=] { return AdminPage{200, "application/json", json_page(report()), guards}; };
}

}  // namespace

Process::Process(const Settings& settings, const Clock& clock)
    : settings_(settings),
      clock_(clock),
      watchdog_(clock, int64_t{settings.process.stall_seconds} * 1000, health_, metrics_),
      start_wait_(clock, health_, int64_t{settings.process.start_seconds} * 1000),
      backups_(settings_.store, clock, metrics_),
      started_ms_(clock.now_ms()),
      looker_(clock),
      kafka_(client_settings(settings)) {}

Status Process::start() {
  BLOOMRING_TRY(check_runnable(settings_));
  BLOOMRING_TRY_ASSIGN(calendar_, Calendar::create(settings_.retention()));
  BLOOMRING_TRY(kafka::check(kafka_));
  const StartFindings found = check_start(settings_, clock_.now_ms());
  for (const std::string& warning : found.warnings) log_warning(warning);
  BLOOMRING_TRY(found.status());
  BLOOMRING_TRY(start_ports());
  BLOOMRING_TRY(wait_for_topics());
  BLOOMRING_TRY(plan());
  BLOOMRING_TRY_ASSIGN(producer_, kafka::Producer::create(kafka_));
  BLOOMRING_TRY(verify_topics());
  BLOOMRING_TRY(open_store());
  // Before any group is joined: a member that fails later holds its partitions until its session ends.
  if (stores_.reader) BLOOMRING_TRY(check_stored_slots(settings_, stores_.reader.get()));
  log_watch_ = std::make_unique<LogWatch>(kafka_, clock_, health_);
  process_metrics_ =
      std::make_unique<ProcessMetrics>(metrics_, settings_, *plan_, *memory_, *producer_, *log_watch_, clock_);
  BLOOMRING_TRY(start_stages());
  start_wait_.done();
  return {};
}

Status Process::start_ports() {
  const AdminSettings& admin = settings_.admin;
  const AdminPlaces places;
  AdminActions actions;
  actions.token = [file = admin.token_file]() -> Result<std::string> {
    if (file.empty()) return invalid("admin.token_file is not set, and this process writes no store in a folder");
    return read_admin_token(file);
  };
  const auto store = settings_.store.folder();
  if (store && store_role(settings_.stages) == StoreRole::kWrites) {
    const std::string token = admin_token_path(admin.token_file, *store);
    BLOOMRING_TRY(admin.token_file.empty() ? make_admin_token(token) : read_admin_token(token).status());
    actions.token = [token] { return read_admin_token(token); };
    actions.by_path["/store/backup"] = places.bound([this] { return backups_.take(); });
  }
  AdminPages pages = admin_pages(metrics_, health_);
  pages["/metrics"] = places.bound(pages["/metrics"]);
  add_log_level(pages, actions, settings_.log.level, clock_);
  pages["/status"] = places.bound([this] { return AdminPage{200, "application/json", to_json(status())}; });
  pages["/version"] = [this] { return AdminPage{200, "application/json", to_json(identity_of(settings_))}; };
  add_ops_pages(pages, [this] { return report(); });
  BLOOMRING_TRY_ASSIGN(admin_, AdminServer::start(admin.listen, pages, actions, "admin.listen", kAdminTimeoutMs,
                                                    HostNames(admin.hosts)));
  look_worker_ = std::make_unique<Worker>("page-look", clock_, [](const Status&) {});
  look_worker_->set_ticker(StageLooker::kIntervalMs, [this] { look(); });
  if (admin.health_listen.empty()) return {};
  BLOOMRING_TRY_ASSIGN(probes_,
                       AdminServer::start(admin.health_listen, probe_pages(health_), {}, "admin.health_listen",
                                          kAdminTimeoutMs, HostNames(admin.hosts)));
  return {};
}

void Process::look() {
  looker_.look([this] { return status(); });
  TrendSample sample{.records = looker_.records()};
  if (take_calls(settings_.stages)) {
    QueryFigures figures = query_figures(metrics_);
    sample.freshness = std::move(figures.freshness);
    sample.calls = std::move(figures.calls);
    sample.filters = std::move(figures.filters);
  }
  trends_.take(clock_.steady_ns(), std::move(sample));
}

// Asks nothing that a stage holds: it runs on a thread of the admin port.
OpsReport Process::report() const {
  OpsReport report{.instance = settings_.instance, .version = std::string(version()), .commit = std::string(commit())};
  report.now_ms = clock_.now_ms();
  report.started_ms = started_ms_;
  report.looked_ms = looker_.looked_ms();
  report.ready = health_.ready();
  report.alive = health_.alive();
  report.parts = parts_of(health_.ready_json(), health_.alive_json());
  report.stages = looker_.stages();
  report.trends = trends_.report();
  if (take_calls(settings_.stages)) {
    const ServeSettings& serve = settings_.serve;
    report.replica = ReplicaReport{serve.replica_index, serve.replica_count, serve.replication_factor, serve.peers};
  }
  if (backups_.under_way()) report.jobs.emplace_back("a backup of the filter store");
  report.recent = recent_log_lines();
  report.configuration = configuration_;
  return report;
}

Status Process::wait_for_topics() {
  const std::vector<TopicSpec> topics = topics_at_start(settings_);
  std::vector<std::string> names;
  for (const TopicSpec& topic : topics) names.push_back(topic.name);
  BLOOMRING_TRY_ASSIGN(kafka_admin_, kafka::Admin::create(kafka_));
  return start_wait_.until("brokers and topics", [&]() -> Status {
    const auto found = kafka_admin_->describe(names, kReachTimeoutMs, kSlowAnswerTimeoutMs);
    if (!found.ok()) return found.status().with_context("kafka.bootstrap is " + settings_.kafka.bootstrap);
    for (size_t i = 0; i < topics.size(); ++i) {
      if (!(*found)[i].exists) return retry(missing_topic(*kafka_admin_, topics[i], settings_.topics));
    }
    return {};
  });
}

// Queues are sized for the partitions that the topics of plays have, which may be more than the settings say.
Status Process::plan() {
  std::optional<uint64_t> plays_partitions;
  if (reads_topic(settings_.stages, TopicRole::kPlays))
    plays_partitions = count_plays_partitions(*kafka_admin_, settings_);
  const auto planned = plan_memory(settings_, plays_partitions);
  if (!planned.ok()) return invalid("memory.limit " + planned.status().message());
  plan_ = *planned;
  kafka_.send_memory_bytes = plan_->of(MemoryUse::kSendQueue);
  return {};
}

Status Process::verify_topics() {
  const Status reached = start_wait_.until("brokers", [&]() -> Status {
    for (const TopicSpec& topic : topics_at_start(settings_)) {
      if (topic.of_the_site()) continue;
      BLOOMRING_TRY(producer_->verify_topic(topic.name, topic.partitions_fixed() ? topic.partitions : 0));
    }
    return {};
  });
  BLOOMRING_TRY(reached);
  BLOOMRING_TRY(verify_topic_settings(*kafka_admin_, settings_));
  if (keep_state(settings_.stages)) start_warnings_ = retention_warnings(*kafka_admin_, settings_);
  kafka_admin_.reset();
  return {};
}

Status Process::open_store() {
  StateMemoryConfig memory;
  memory.cache_bytes = plan_->of(MemoryUse::kStores);
  memory.write_buffer_bytes = memory.cache_bytes / 2;
  memory_ = std::make_unique<StateMemory>(memory);
  const StoreRole role = store_role(settings_.stages);
  if (role == StoreRole::kNone) return {};

  has_begun_ = role == StoreRole::kWrites;
  BLOOMRING_TRY_ASSIGN(stores_, open_stores(settings_, role, {*calendar_, clock_, *memory_}));
  if (stores_.write_metrics) store_metrics_ = metrics_.on_scrape(stores_.write_metrics);
  if (stores_.shared) BLOOMRING_TRY(follow_store());
  if (role == StoreRole::kReads) return {};
  backups_.open(*stores_.admin);
  if (stores_.erases && settings_.store.erase_within_seconds > 0) begin_erasing();
  return {};
}

// Twice as many ticks in half of the deadline as there are ranges.
void Process::begin_erasing() {
  eraser_ = std::make_unique<Worker>("store-erase", clock_, [](const Status&) {});
  const int64_t ticks = 2 * int64_t{kShardCount};
  eraser_->set_ticker(std::clamp<int64_t>(settings_.store.erase_step_ms() / ticks, 20, 10'000),
                      [this] { erase_deleted(); });
}

void Process::erase_deleted() {
  const int64_t step_ms = settings_.store.erase_step_ms();
  const int64_t before_ms = clock_.now_ms() - step_ms;
  Status erased = stores_.admin->erase_deleted(before_ms).status();
  const int64_t now_ms = clock_.steady_ns() / 1'000'000;
  if (erased.ok() && !settings_.store.backup_path.empty() && now_ms - backups_seen_ms_ >= step_ms / 100) {
    backups_seen_ms_ = now_ms;
    erased = backups_.remove_before(before_ms);
  }
  if (erased.ok()) return;
  metrics_.counter(metric::kStoreErrors, {"erase"}).add();
  log_warning("deleted filters are not erased yet: " + erased.message(), {{"code", code_name(erased.code())}});
}

Status Process::follow_store() {
  const std::string context = describe_store_place(settings_) +
                              (stores_.writer == nullptr
                                   ? ", which the process that runs the merge stage makes: start that one, too"
                                   : "");
  BLOOMRING_TRY(start_wait_.until("the filter store", [&] { return stores_.reader->refresh().with_context(context); }));
  BLOOMRING_TRY(check_servers());
  refresher_ = std::make_unique<Worker>(
      "store-follow", clock_, [](const Status&) {}, &watchdog_);
  refresher_->set_ticker(kRefreshIntervalMs, [this] {
    const Status refreshed = stores_.reader->refresh();
    if (!refreshed.ok()) metrics_.counter(metric::kStoreErrors, {"refresh"}).add();
  });
  return {};
}

// A reader starts all the same: it loses nothing, and answers are asked of it.
Status Process::check_servers() {
  const std::string place = describe_store_place(settings_);
  const auto servers = stores_.admin->check_servers();
  if (!servers.ok()) {
    log_warning(place + ": its servers did not tell their settings: " + servers.status().message());
    return {};
  }
  for (const std::string& warning : servers->warnings) log_warning(place + ": " + warning);
  for (const std::string& unknown : servers->unknown) log_info(place + ": " + unknown);
  Status refused;
  for (const std::string& refusal : servers->refusals) {
    const std::string line = place + ": " + refusal;
    if (stores_.writer == nullptr)
      log_warning(line);
    else
      refused = invalid(refused.ok() ? line : refused.message() + "\n" + line);
  }
  return refused;
}

Status Process::start_stages() {
  has_begun_ = true;
  for (auto row = settings_.stages.rbegin(); row != settings_.stages.rend(); ++row) {
    std::unique_ptr<Stage> made = (*row)->make(context_of(**row));
    Stage& stage = *made;
    {
      const std::lock_guard lock(running_mutex_);
      running_.insert(running_.begin(), std::move(made));
    }
    BLOOMRING_TRY(stage.start());
    const std::lock_guard lock(running_mutex_);
    ++started_;
  }
  for (const StageRow* row : settings_.stages) metrics_.gauge(metric::kStageUp, {row->name}).set(1);
  return {};
}

StageContext Process::context_of(const StageRow& row) {
  return {row, settings_, *plan_, kafka_, *calendar_, clock_, metrics_, health_, watchdog_, start_wait_, *producer_,
          stores_, memory_.get(), [this](std::string_view stage, const Status& status) { fail(stage, status); },
          log_watch_.get()};
}

void Process::fail(std::string_view stage, const Status& status) {
  log_error(std::string(stage) + " cannot go on: " + status.message(),
            {{"stage", stage}, {"code", code_name(status.code())}});
  health_.set_failed(std::string(stage), status.message());
  metrics_.gauge(metric::kStageUp, {stage}).set(0);
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = status;
}

std::optional<Status> Process::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

std::vector<StageStatus> Process::status() const {
  const std::lock_guard lock(running_mutex_);
  std::vector<StageStatus> all;
  for (size_t i = running_.size() - started_; i < running_.size(); ++i) all.push_back(running_[i]->status());
  return all;
}

std::string Process::grpc_address() const {
  for (StageStatus& stage : status()) {
    if (!stage.address.empty()) return std::move(stage.address);
  }
  return {};
}

std::string Process::ready_line() const {
  nlohmann::ordered_json line = {{"ready", true}, {"kafka", settings_.kafka.bootstrap}};
  if (take_calls(settings_.stages)) line["grpc"] = grpc_address();
  line["admin"] = admin_->address();
  if (probes_) line["health"] = probes_->address();
  return line.dump();
}

void Process::stop(StopMode mode) {
  health_.set_not_ready("process", "it ends");
  look_worker_.reset();
  {
    const std::lock_guard lock(running_mutex_);
    started_ = 0;
  }
  for (const auto& stage : running_) stage->begin_stop();
  for (const auto& stage : running_) stage->stop(mode);
  if (producer_) {
    const Status flushed = producer_->flush(kFlushTimeoutMs);
    if (!flushed.ok()) log_warning("not everything was sent: " + flushed.message() + "; it is read again from the log");
  }
}

Process::~Process() {
  stop();
  refresher_.reset();
  eraser_.reset();
  backups_.close();
  process_metrics_.reset();
  std::vector<std::unique_ptr<Stage>> ended;
  const std::lock_guard lock(running_mutex_);
  running_.swap(ended);
}

}  // namespace bloomring
