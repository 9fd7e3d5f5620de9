// A bloomring process: the stages that the settings name, with what they share.
//
//   start --> wait_ready --> (runs) --> stop
//
// The admin port is the first thing that starts and the last that ends: probes are answered while the process waits
// for brokers, topics or the filter store (pipeline/runtime/start_wait.h), and while it ends.
//
// The embedded filter store is opened for writing when the merge stage runs here; other stages follow the store of the
// merge process on the same machine. Stages start from the end of the flow to its beginning and stop the other way
// round, so that nothing is produced that nobody reads.
// Failure: `start` says what is wrong with the set-up (kInvalid) or the surroundings; later failures end up in
// `failure`, are logged, and make /healthz fail.
// Threading: one thread owns the process, but `start` may be left to another one, which has ended before `stop`; what
// is said to be thread safe may be called from any.
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
#include "pipeline/runtime/health.h"
#include "pipeline/runtime/start_wait.h"
#include "pipeline/runtime/watchdog.h"
#include "pipeline/settings/settings.h"
#include "pipeline/stages/stage.h"
#include "pipeline/stages/stage_context.h"

namespace bloomring {

class EmbeddedFilterStore;
struct EmbeddedFilterStoreConfig;
class ProcessMetrics;
class Worker;

class Process {
 public:
  Process(const Settings& settings, const Clock& clock);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Once. After a failure there is nothing left but `stop`.
  Status start();
  // A `start` that waits for something fails at once, and each later wait of it. Thread safe.
  void give_up_start() { start_wait_.give_up(); }
  // What `start` waits for, since when and why; empty when for nothing. Thread safe.
  std::string start_waits_for() const { return start_wait_.waiting_for(); }
  // False as long as `start` has only looked and waited: nothing is open for writing, no partition is read, and the
  // operating system may end the process as well as `stop` does. Thread safe.
  bool has_begun() const { return has_begun_; }
  // What is wrong with how long user-events is kept, in a process with the window stage; after `start`.
  const std::vector<std::string>& start_warnings() const { return start_warnings_; }

  bool ready() const { return health_.ready(); }
  // {"ready":true,"kafka":"127.0.0.1:40001","grpc":"127.0.0.1:40002","admin":"127.0.0.1:40003"}: what the process has.
  std::string ready_line() const;
  std::string grpc_address() const;
  std::string admin_address() const { return admin_->address(); }
  // Of each stage that has been started, in the order of the flow.
  std::vector<StageStatus> status() const;
  // Why the process cannot go on, once it cannot. Thread safe.
  std::optional<Status> failure() const;
  // Ends every stage with everything durable that can be; calls are answered for serve.drain_seconds more. May hang
  // with what it waits for: see pipeline/runtime/stop_bound.h.
  void stop() { stop(StopMode::kRestart); }
  void stop(StopMode mode);
  // What its threads are busy with for a second or more, for the log.
  std::string busy_with() const { return watchdog_.busy_with(); }

  Metrics& metrics() { return metrics_; }
  FilterStore& filters() { return *filters_; }
  const Calendar& calendar() const { return *calendar_; }

 private:
  Status wait_for_topics();
  Status open_store();
  Status follow_store(EmbeddedFilterStoreConfig config);
  // The answer to POST /store/backup, in a process that writes the embedded store.
  AdminPage back_up_store();
  Status plan();
  Status verify_topics();
  // Called before any group is joined: a member that is refused after that holds its partitions until its session ends.
  Status check_stored_slots();
  Status start_stages();
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
  std::mutex backup_mutex_;                // One backup at a time.
  EmbeddedFilterStore* writer_ = nullptr;  // The store, where this process writes it. Guarded by backup_mutex_.
  std::unique_ptr<AdminServer> admin_;     // Ends after everything that follows.

  std::optional<MemoryPlan> plan_;
  kafka::ClientSettings kafka_;
  std::unique_ptr<kafka::Admin> kafka_admin_;  // While it starts.
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<StateMemory> memory_;
  std::unique_ptr<FilterStore> filters_;
  std::unique_ptr<Worker> refresher_;  // Follows the store where another process writes it.
  std::unique_ptr<LogWatch> log_watch_;
  std::unique_ptr<StageContext> context_;
  mutable std::mutex running_mutex_;
  std::vector<std::unique_ptr<Stage>> running_;  // In the order of the flow; grows while the process starts.
  std::unique_ptr<ProcessMetrics> process_metrics_;
};

}  // namespace bloomring
