// A bloomring process: runs the stages that the settings name, and owns what they share.
//
//   start --> wait_ready --> (runs) --> stop
//
// The admin port starts first and ends last. It answers probes while the process waits for brokers, topics or the
// filter store (pipeline/runtime/start_wait.h), and while the process ends. Its operations page (pipeline/page) shows
// what a thread of its own last heard of the stages, so that it answers while a stage hangs.
//
// The process opens the filter store for writing when it runs the merge stage; otherwise it reads what the merge
// process writes (pipeline/stores/open_stores.h). Stages start from the end of the flow to its beginning and stop in
// the opposite order, so that a stage's reader runs while the stage produces.
// Errors: `start` returns kInvalid for a wrong set-up, and the status of a broker, topic or store that it cannot use.
// Later failures are kept in `failure`, are logged, and make /healthz fail.
// Threading: one thread owns the process. Another thread may run `start` if it has ended before `stop`. Members marked
// thread safe may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "pipeline/admin/admin_server.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/page/ops_report.h"
#include "pipeline/page/stage_looker.h"
#include "pipeline/page/trends.h"
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/start_wait.h"
#include "pipeline/runtime/watchdog.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stages/backup_action.h"
#include "pipeline/stages/base/stage.h"
#include "pipeline/stages/base/stage_context.h"
#include "pipeline/stores/open_stores.h"

namespace bloomring {

class ProcessMetrics;
class Worker;

class Process {
 public:
  Process(const Settings& settings, const Clock& clock);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The configuration for the operations page, secrets hidden; before `start`.
  void show_configuration(std::string yaml) { configuration_ = std::move(yaml); }
  // To be called once. After a failure only `stop` may be called.
  Status start();
  // Makes the current wait of `start`, and each later one, fail at once. Thread safe.
  void give_up_start() { start_wait_.give_up(); }
  // Names the thing that `start` waits for, since when and why; empty when it does not wait. Thread safe.
  std::string start_waits_for() const { return start_wait_.waiting_for(); }
  // False while `start` has only looked and waited: nothing is open for writing and no partition is read, so killing
  // the process is as safe as `stop`. Thread safe.
  bool has_begun() const { return has_begun_; }
  // Warnings about the retention of user-events, in a process with the window stage; after `start`.
  const std::vector<std::string>& start_warnings() const { return start_warnings_; }

  bool ready() const { return health_.ready(); }
  bool alive() const { return health_.alive(); }
  // {"ready":true,"kafka":"127.0.0.1:40001","grpc":"127.0.0.1:40002","admin":"127.0.0.1:40003"}; only the ports it
  // has, with "health" behind them.
  std::string ready_line() const;
  std::string grpc_address() const;
  std::string admin_address() const { return admin_->address(); }
  // Of each stage whose start has ended, in the order of the flow, until `stop`.
  std::vector<StageStatus> status() const;
  // Why the process cannot go on, once it cannot. Thread safe.
  std::optional<Status> failure() const;
  // Ends every stage and makes durable all that it can; calls are answered for serve.drain_seconds more. May hang
  // with what it waits for: see pipeline/runtime/stop_bound.h.
  void stop() { stop(StopMode::kRestart); }
  void stop(StopMode mode);
  // The work that has kept its threads busy for a second or more, for the log.
  std::string busy_with() const { return watchdog_.busy_with(); }

  Metrics& metrics() { return metrics_; }
  const FilterStores& stores() const { return stores_; }
  const Calendar& calendar() const { return *calendar_; }

 private:
  Status start_ports();
  void look();
  OpsReport report() const;
  Status wait_for_topics();
  Status open_store();
  Status follow_store();
  Status check_servers();
  void begin_erasing();
  void erase_deleted();
  Status plan();
  Status verify_topics();
  Status start_stages();
  StageContext context_of(const StageRow& row);
  void fail(std::string_view stage, const Status& status);

  const Settings settings_;
  const Clock& clock_;
  std::optional<Calendar> calendar_;
  Metrics metrics_;
  Health health_;
  Watchdog watchdog_;
  StartWait start_wait_;
  std::atomic<bool> has_begun_{false};
  std::vector<std::string> start_warnings_;
  mutable std::mutex failure_mutex_;
  std::optional<Status> failure_;
  BackupAction backups_;
  std::string configuration_;
  const int64_t started_ms_;
  StageLooker looker_;
  Trends trends_;
  mutable std::mutex running_mutex_;
  // In the order of the flow; grows while the process starts, and is empty when the destructor's body has ended. The
  // stages use what follows, which the admin port outlives: its pages ask them until then.
  std::vector<std::unique_ptr<Stage>> running_;
  size_t started_ = 0;  // Of them, counted from the end: a stage that starts or stops is not asked for its status.
  std::unique_ptr<AdminServer> admin_;  // Ends after everything that follows.
  std::unique_ptr<AdminServer> probes_;

  std::optional<MemoryPlan> plan_;
  kafka::ClientSettings kafka_;
  std::unique_ptr<kafka::Admin> kafka_admin_;  // While it starts.
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<StateMemory> memory_;
  FilterStores stores_;
  std::optional<Metrics::Registration> store_metrics_;  // Uses the store.
  std::unique_ptr<Worker> refresher_;  // Follows the store when other processes write it.
  std::unique_ptr<Worker> eraser_;     // Erases what was deleted from the store that this process writes.
  int64_t backups_seen_ms_ = 0;        // When the eraser looked at the backups last.
  std::unique_ptr<LogWatch> log_watch_;
  std::unique_ptr<ProcessMetrics> process_metrics_;
  std::unique_ptr<Worker> look_worker_;  // Asks the stages for the page.
};

}  // namespace bloomring
